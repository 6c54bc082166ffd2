// Which rows a timeline has, from top to bottom, and where each mark is.

const HALF = 12; // pixels: what one more replica had been shown
const HEIGHT = { title: 26, steps: 22, fault: 20, process: 22, writes: 26, reads: 18, lane: 34, object: 30, system: 28, calls: 24, looks: 18, notices: 18, thing: 20 };

/** `{rows, bottom, rowOf(mark)}`, from `top` on. `title`: a heading of its own, if any; `open`: names of lanes whose objects are shown;
 * `shows(kind)`; `wanted(object, lane)`. */
export function layout(timeline, { top, title, open, shows, wanted }) {
  const rows = [];
  let y = top;
  const add = (kind, label, more = {}) => {
    rows.push({ kind, label, y, height: HEIGHT[kind], ...more });
    y += rows.at(-1).height;
  };
  const halves = viewed(timeline);
  const height = HEIGHT.object + HALF * Math.max(0, halves.length - 1);
  if (title) add("title", title);
  if (shows("step") && timeline.steps.length) add("steps", "workload");
  if (shows("fault")) for (const band of timeline.bands) add("fault", band.name, { band });
  timeline.replicas.forEach((name, replica) => {
    const whose = timeline.replicas.length > 1 ? `${name}: ` : "its ";
    if (shows("process")) add("process", `${whose}process`, { replica });
    if (shows("write")) add("writes", `${whose}writes`, { replica });
    if (shows("read")) add("reads", `${whose}reads`, { replica });
  });
  for (const lane of timeline.lanes) {
    const objects = lane.objects.filter((object) => wanted(object, lane));
    if (!objects.length) continue;
    const isOpen = open.has(lane.name);
    add("lane", lane.name, { lane, short: short(lane.name, timeline), count: objects.length, isOpen });
    const names = isOpen ? occurrences(lane) : null;
    if (isOpen) for (const object of objects) add("object", names.get(object.name) > 1 ? `${object.name} ${object.uid.slice(0, 4)}` : object.name, { lane, object, halves, height });
  }
  for (const system of timeline.systems) {
    const things = system.things.filter((thing) => wanted(thing, system));
    if (!things.length && !wanted({ name: "", uid: "" }, system)) continue;
    const isOpen = open.has(system.name);
    add("system", system.name, { system, short: system.name, count: things.length, isOpen });
    if (shows("call")) add("calls", "its calls", { system });
    if (shows("look")) add("looks", "its looks", { system });
    if (shows("notice") && system.notifications.length) add("notices", "notifications", { system });
    if (isOpen) for (const thing of things) add("thing", thing.name, { system, thing });
  }
  return { rows, bottom: y, rowOf: finder(rows) };
}

/** The replicas of which it is known what they had been shown, by their places. */
export function viewed({ lanes, replicas }) {
  const told = new Set(lanes.flatMap(({ objects }) => objects.flatMap(({ shown }) => shown.map(({ replica }) => replica))));
  return [...replicas.keys()].filter((replica) => told.has(replica) || (replica === 0 && !told.size));
}

/** Without its group, unless another resource is called the same. */
function short(name, { lanes }) {
  const [head] = name.split(".");
  return lanes.filter((lane) => lane.name.split(".")[0] === head).length > 1 ? name : head;
}

/** How many incarnations each name has: they are told apart by the beginning of their uid. */
function occurrences({ objects }) {
  const count = new Map();
  for (const { name } of objects) count.set(name, (count.get(name) ?? 0) + 1);
  return count;
}

function finder(rows) {
  const one = new Map(rows.map((row) => [row.kind, row]));
  const own = new Map(rows.filter((row) => row.replica !== undefined).map((row) => [`${row.kind} ${row.replica}`, row]));
  const ofReplica = (kind, mark) => own.get(`${kind} ${mark.of.replica ?? 0}`);
  const bands = new Map(rows.filter((row) => row.kind === "fault").map((row) => [row.band.fault, row]));
  const lanes = new Map(rows.filter((row) => row.kind === "lane").map((row) => [row.label, row]));
  const objects = new Map(rows.filter((row) => row.kind === "object").map((row) => [row.object.uid, row]));
  const things = new Map(rows.filter((row) => row.kind === "thing").map((row) => [row.thing.uid, row]));
  const systems = new Map(rows.filter((row) => row.system && row.kind !== "thing").map((row) => [`${row.kind} ${row.system.name}`, row]));
  const of = {
    call: (mark) => systems.get(`calls ${mark.lane}`),
    look: (mark) => systems.get(`looks ${mark.lane}`),
    notice: (mark) => systems.get(`notices ${mark.lane}`),
    turn: (mark) => systems.get(`system ${mark.lane}`),
    drift: (mark) => systems.get(`system ${mark.lane}`),
    held: (mark) => things.get(mark.uid),
    step: () => one.get("steps"),
    fault: (mark) => bands.get(mark.of.fault),
    fired: (mark) => bands.get(mark.of.fault),
    process: (mark) => ofReplica("process", mark),
    told: (mark) => ofReplica("process", mark) ?? ofReplica("writes", mark),
    write: (mark) => ofReplica("writes", mark),
    read: (mark) => ofReplica("reads", mark),
    stream: (mark) => (mark.lane ? lanes.get(mark.lane) : ofReplica("process", mark)),
    truth: (mark) => objects.get(mark.uid) ?? lanes.get(mark.lane),
    shown: (mark) => objects.get(mark.uid) ?? lanes.get(mark.lane),
  };
  return (mark) => of[mark.kind](mark);
}

/** How far down a mark is in its row. */
export function offset(mark, row) {
  if (row.kind === "object") return mark.kind === "truth" ? 9 : 21 + HALF * Math.max(0, row.halves.indexOf(mark.of.replica));
  if (row.kind === "lane") return row.height - 8;
  if (mark.kind === "fired" && !mark.witness) return row.height - 5; // below what the row says
  return row.height / 2;
}
