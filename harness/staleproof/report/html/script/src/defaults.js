// What is left out of the JSON because it has its default.

const OBJECT = { revisions: [], shown: [], stale: [] };

/** The timeline with all of its fields. */
export function whole(timeline) {
  const full = { lives: [], leaders: [], steps: [], bands: [], lanes: [], requests: [], events: [], tales: [], ...timeline };
  full.steps = full.steps.map((each) => ({ until: null, ...each }));
  full.bands = full.bands.map((each) => ({ until: null, fired: false, ...each }));
  full.lives = full.lives.map((each) => ({ until: null, ...each }));
  full.lanes = full.lanes.map(lane);
  full.requests = full.requests.map((each) => ({ answer: null, answered: null, code: 0, reason: "", changed: [], ...each }));
  full.events = full.events.map((each) => ({ lane: "", says: "", fault: null, ...each }));
  full.tales = full.tales.map((each) => ({ cause: "", also: [], heading: "", compared: "", ...each }));
  return full;
}

function lane(each) {
  const full = { kind: "resource", primary: false, objects: [], kept: [], behind: [], ...each };
  full.kept = full.kept.map((kept) => ({ until: null, ...kept }));
  full.objects = full.objects.map((object) => ({ ...OBJECT, ...object }));
  for (const object of full.objects) {
    object.revisions = object.revisions.map((state) => ({ by: "user", request: 0, managers: [], deletes: false, ...state }));
    object.shown = object.shown.map((showing) => ({ gone: false, ...showing }));
    object.stale = object.stale.map((stale) => ({ until: null, ...stale }));
  }
  return full;
}
