"""Every time constant, in seconds, and the factors by which times that were measured are multiplied: `ci/docs` prints them into
docs/times.md, where each comment is a heading and each docstring a meaning.

What users may choose has its default here, too. The holds of a profile stand in `draw.profile`, and what a fault does unless a plan
says otherwise with its class; the leash of a program (`drive.process.leash`) imports nothing and has a constant of its own.
"""

# How long a trial waits for the controller

IDLE_SECONDS = 0.25
"""A step is over when the controller has done nothing for so long, unless it is known to pause longer."""
QUIET_SECONDS = 0.5
"""A trial has settled when nothing was written for so long, unless the controller is known to pause longer."""
STEP_LIMIT_SECONDS = 10.0
"""A step takes no longer, unless the controller is known to pause for long."""
DEADLINE_SECONDS = 10.0
"""After the release the controller has so long to converge, unless it or its references needed more."""
IMPATIENT_DEADLINE_SECONDS = 5.0
"""The user's patience shortens that, to this at least."""
IDLE_FACTOR = 1.5
"""Of the longest pause: a controller that has done nothing for so long does nothing more of its own accord."""
QUIET_FACTOR = 2.0
"""Of the longest pause, until a trial has settled."""
LIMIT_FACTOR = 10.0
"""Of the longest pause, or of a late beginning: the limit of a step, and the deadline."""
DEADLINE_FACTOR = 5.0
"""Of what the slowest reference took to settle: the deadline of its trials."""
REST_SECONDS = 2.0
"""A controller that has done nothing for so long acts because of what comes then, not because of what came before."""
COUNTED_REST_SECONDS = 1.0
"""Writes of a controller that has nothing to do are counted from so long after the last event."""
SETTLING_SECONDS = 0.15
"""Nothing changes for so long, at most, before a step is over that has brought what it brought in the references."""
SURE_SECONDS = 2.0
"""The controller does nothing for so long before a step is over in which no fault has opened yet, while it lacks what references
came to: the machine may be busier than it was when the controller's pauses were learnt."""
OWED_SECONDS = 2.0
"""A commit that a watch has to show is waited for so long."""
MISSED_SECONDS = 90.0
"""A watch that ended is waited for so long."""
EXPECTED_SECONDS = 30.0
"""The same for a watch that a new life is expected to open, since it opened the last: another one opened it by itself."""
REJECTED_SECONDS = 4.0
"""A controller that does nothing but try again what is rejected is at rest after this: a little longer than it takes to see how it
tries."""
CIRCLES_SECONDS = 3.0
"""A step in which the controller makes again and again what is removed again and again lasts so long, at least."""
CIRCLES_FACTOR = 2.0
"""Such rounds go on as long as the fault does, if there were so many times as many as in any reference, and twenty more."""
MARGIN_SECONDS = 1.0
"""So much more than a correct controller may need is waited for convergence."""
AT_MOST_NEEDED_SECONDS = 100.0
"""Each trial waits for what a correct controller may need, up to this: client-go's rate limiter has come to 82 s after 15 failures,
its reflector to a minute after several 410s. What takes longer is for the one run that waits long (`--staleproof-patience`)."""
ASKED_AGAIN_SECONDS = 5.0
"""What a correct controller may need is asked again after so long: once it has tried again, it needs no longer."""
LOOKING_FACTOR = 10.0
"""Of the time that it takes to look whether something is still missing: it is looked at again after so long, at the earliest."""
EXTERNAL_READ_SECONDS = 0.2
"""While the repair of something in an external system is waited for, the system is read so often."""
CALL_SECONDS = 10.0
"""A call to an external system that is not answered keeps the controller from being idle for so long."""
RESYNC_SECONDS = 60.0
"""A watch that was ended for a resync is waited for so long."""
OPENS_WATCH_SECONDS = 30.0
"""A controller may take so long to open its first watch, unless the user says otherwise."""
BEGUN_IDLE_SECONDS = 0.3
"""A new life of the controller has come to rest when it has done nothing for so long; its metrics are tried as often."""
BEGUN_AGAIN_IDLE_SECONDS = 0.1
"""The same, once it watches all that its earlier lives watched, and between two trials."""
BRIEF_LIMIT_SECONDS = 2.0
"""While samples are tried, and while a trial is cleaned up, the controller is waited for no longer."""
CLEAN_UP_IDLE_SECONDS = 0.06
"""It has come to rest in a trial that is over when it has done nothing for so long."""
RESTART_WAIT_SECONDS = 10.0
"""The longest pause before a controller that has exited is started again."""

# What checkers allow

BOUND_SECONDS = 5.0
"""A controller that is well may sleep so long, or stand still for one object, before a requirement on pace is violated."""
BOUND_FACTOR = 10.0
"""The same, of what it takes, or pauses, without faults."""
QUICK_SECONDS = 1.0
"""What a controller does so soon after something came is taken to be because of it, however fast it is otherwise."""
LONG_HOLD_SECONDS = 10.0
"""A shorter hold does not send a controller to sleep."""
HEALED_SECONDS = 5.0
"""What is mended within so long was transient."""
SHOWS_RETRIES_SECONDS = 3.0
"""A controller that is rejected for so long has shown whether it backs off."""
SHORTEST_WAIT_SECONDS = 0.02
"""A retry later than this was waited for, if nothing else was asked meanwhile."""
PASS_SECONDS = 0.1
"""Requests that follow one another so closely are of one pass of a controller over an object."""
LONGEST_PASS_SECONDS = 0.25
"""What is left of a pass when a trial has settled in the middle of it takes no longer."""
LONGEST_THROTTLE_SECONDS = 0.25
"""Between requests of one look: client-go's default is 5 a second, so neighbours are 0.2 s apart at most."""
CLOSE_SECONDS = 0.5
"""A change by another so soon after a conflict, and before the next step, may have been its cause."""
TAKES_SECONDS = 0.2
"""A frame that has left may need so long to be taken in, and a sync that was skipped to be counted."""
ELECTION_SECONDS = 20.0
"""Until a new life is elected: client-go's default lease of 15 s has to run out, and is tried for every 2 s, give or take."""
OVERDUE_FACTOR = 2.0
"""Of the time in which a lease is to be renewed: one that was not renewed for longer is lost."""
REFLECTOR_FIRST_SECONDS = 0.8
"""client-go's reflector waits so long after a first failure, and doubles it each time."""
REFLECTOR_LONGEST_SECONDS = 30.0
"""It never waits longer."""
REFLECTOR_FACTOR = 2.0
"""Of such a wait, with its jitter."""
OUTAGE_FACTOR = 2.0
"""Of the longest outage: a client that was turned away for so long may wait as long again, and once more."""
LIMITER_FIRST_SECONDS = 0.005
"""client-go's rate limiter (workqueue.DefaultTypedControllerRateLimiter) waits so long for an item, and doubles it each time."""
LIMITER_LONGEST_SECONDS = 1000.0
"""It never waits longer."""
PAUSES_FACTOR = 3.0
"""Of the longest pause of a fault-free run: a controller may need so many, one after the other."""
PACE_UNKNOWN_SECONDS = 90.0
"""Of a controller that nothing has woken since its last failure: long enough to see a retry once a minute."""
REPAIR_MARGIN_SECONDS = 2.0
"""A repair in an external system may come so much later than is declared: no timer is exact, and a reading takes its time."""
SILENT_SECONDS = 10.0
"""A controller that has tried again by itself may be silent for so long."""
SILENT_FACTOR = 10.0
"""The same, of the time over which it tried: it may keep growing its waits, but by no more than this."""

# How long a plan holds and rests

OUTAGE_SECONDS = 4.0
"""An outage, at least: long enough to tell a growing delay between retries from one that does not grow."""
OUTAGE_DEADLINE_SECONDS = 30.0
"""The deadline of a plan with an outage, at least."""
OUTAGE_DEADLINE_FACTOR = 2.5
"""Of the outage, at least: a client that was turned away for long may wait twice as long again before it comes back."""
LONG_SECONDS = 12.0
"""Longer than the patience that controllers have of their own: for the creates that they expect, say."""
STARTED_SECONDS = 60.0
"""The limit of a step in which the controller is started again, at least; being elected takes longest."""
AWAY_SECONDS = 2.0
"""A fault that is open in a step by itself."""
UNSEEN_SECONDS = 2.0
"""Between the end of a primary that the controller does not see and its return."""
TERMINATING_SECONDS = 0.3
"""Between the end of a primary and its return: what belonged to it is going."""
GONE_SECONDS = 1.0
"""The same: what belonged to it is gone."""
RESTS_SECONDS = (0.5, 1.0)
"""A drawn rest."""
REPAIRED_SECONDS = 30.0
"""The repair of what drifts in an external system is waited for so long, unless the user says how long it takes."""
REPAIRED_FACTOR = 2.0
"""Of the seconds in which the controller says that it repairs: so long is waited, and some more."""
REPAIRED_SPARE_SECONDS = 2.0
"""And so much more."""
NEVER_REPAIRED_SECONDS = 3.0
"""Where the controller says that it repairs nothing: long enough to see what it does."""
SLOW_CALL_SECONDS = 1.0
"""How late the answer to a single call to an external system comes."""
FIRST_LIST_SECONDS = 3.0
"""So late comes the first list of a new life, when something drifts meanwhile: longer than a process takes to start."""
DOWN_SECONDS = 10.0
"""An external system is down for so long while nothing happens, unless the user says within what time the controller repairs."""
LATE_NOTIFICATION_SECONDS = 2.0
"""How late a notification of an external system comes: those sent meanwhile overtake it."""
SLOW_SYSTEM_SECONDS = 2.0
"""An external system that is slow answers so late."""
LAGS_SECONDS = (0.3, 0.6, 1.0)
"""By how much a fault makes something late, where nothing else is said of it."""
SKEW_SECONDS = 0.5
"""How far some watches are behind others."""
SLOW_ANSWER_SECONDS = 1.0
"""How late the answer to a write comes."""
WAITS_SECONDS = 7.0
"""Between the second primary and the end: longer than it is given to be looked at."""
BOOKMARK_SECONDS = 60.0
"""An API server sends a bookmark about once a minute, and some seconds before a watch reaches its limit."""
BOOKMARK_REST_SECONDS = 3.0
"""A controller that needs bookmarks must be seen to wait for one."""
BOOKMARK_REST_FACTOR = 4.0
"""The same, of the time in which nothing happens before a step is over."""
SHORT_REST_SECONDS = 0.1
"""A rest without a hold that it has to outlast."""
LEAST_PLAN_SECONDS = 0.5
"""No plan is taken for quicker when plans are put into an order."""
TRIES_AGAIN_FACTOR = 4.0
"""Of the idle seconds: so long a controller is busy in a step in which its requests are rejected."""

# What is learnt, tried again and compared

AT_ONCE_SECONDS = 0.5
"""What comes later than this comes after a pause; a life whose first write comes later after it watches everything begins late."""
MAP_IDLE_SECONDS = 0.5
"""A step of many primaries side by side is over when the controller has done nothing for so long, at least: a client that asks for
little at a time pauses on the way from one primary to the next, and longer on a busy machine."""
PATIENT_QUIET_SECONDS = 5.0
"""Each sample is watched once until nothing was written for so long: some controllers do something by themselves seconds later."""
PATIENT_DEADLINE_SECONDS = 30.0
"""The deadline of that."""
LATE_LIFE_SECONDS = 15.0
"""So long is waited, once, for a new life that has something to do and does nothing: a JVM may take that long."""
LATE_LIFE_LIMIT_SECONDS = 20.0
"""Limit and deadline of that in `doctor`."""
NEXT_WATCH_SECONDS = 5.0
"""From one watch to the next when a controller begins."""
MAP_SECONDS = 120.0
"""So long the operator's map is learnt: what is left then is not in it."""
MOVES_SECONDS = 3.0
"""The pauses of one run in which moves are tried, all together."""
PATIENCE_SECONDS = 180.0
"""Before a controller is called stuck, what is missing is waited for so long, once for a cause, unless the user says otherwise: a
handler is tried again after a minute, a collector comes every two."""
THOROUGH_PATIENCE_SECONDS = 600.0
"""The same in the profile thorough."""
SLOW_PATIENCE_SECONDS = 900.0
"""The same in the profile slow: longer than twice its hold."""
HEALS_SECONDS = 1.0
"""So much longer than what healed in one trial took is waited for in the others."""
HEALS_FACTOR = 1.5
"""The same, of what it took."""
RETRY_FACTOR = 1.5
"""Of the longest that the controller was seen to wait before it tried a rejected create again by itself: one whose answer was lost
is tried again by then, and no sooner than that part of it."""
PERIODS_FACTOR = 2.0
"""Of the longest time that a controller was quiet in a run without faults before it asked for something by itself: what comes once
in a period comes within two of them."""
PROBE_SECONDS = 10.0
"""Whether a controller works at all is seen within this."""
NUDGE_SECONDS = 5.0
"""Once a trial with a finding is over, what is lacking has so long to come after each nudge that might heal it."""
NUDGED_REST_SECONDS = 2.0
"""The same, where the controller goes on and does nothing for so long."""
PROBE_FACTOR = 5.0
"""The same, of what it takes until it first writes in a reference."""
SHRINK_DEADLINE_SECONDS = 5.0
"""To converge for what is tried while a plan is made smaller; a controller gets more where a correct one may need more."""
SHRINK_SECONDS = 60.0
"""A drawn plan with a finding is made smaller for so long, unless the user says otherwise."""
SIMILAR_SECONDS = 1.0
"""Steps whose times round up to the same multiple lasted equally long, and so did what came after the release; a quick one is
compared in halves, quarters, and so on."""
SIMILAR_LONG_SECONDS = 5.0
"""The same where something took more than four times as long as this."""
SIMILAR_QUICK_SECONDS = 0.25
"""No finer than this."""
UNLEARNT_FACTOR = 3.0
"""Of the minutes that were too few to learn what the controller does without faults: what is proposed instead."""
CLOSING_SECONDS = 30.0
"""To stop everything and to write the report, at most."""
CLOSING_FACTOR = 0.08
"""The same, of a short run."""
RESERVE_FACTOR = 0.1
"""Of the time that there is for plans, kept for comparing and confirming the last of them, at most."""
BUILT_SECONDS = 60.0
"""What takes longer to start was built first, or another worker built it meanwhile: that takes minutes, a start takes seconds."""
DOCTOR_SECONDS = 50.0
"""`doctor`, from the start of the controller on; the rest of a minute is for control plane and proxy."""
DOCTOR_QUIET_SECONDS = 2.0
"""In `doctor` a sample has settled when nothing was written for so long."""
DOCTOR_DEADLINE_SECONDS = 15.0
"""The deadline of that."""
DOCTOR_REST_SECONDS = 3.0
"""In `doctor` a life has come to rest when it has asked for nothing new for so long: managers start one thing after another."""
DOCTOR_REST_LIMIT_SECONDS = 15.0
"""The limit of that."""
DOCTOR_WATCH_AGAIN_SECONDS = 15.0
"""Until a second life is to watch, in `doctor`, what the first one did: a Lease that was not given up lasts so long."""
DOCTOR_METRICS_SECONDS = 5.0
"""Until metrics are to be there, in `doctor`."""
DEMO_IDLE_SECONDS = 0.15
"""A step of the demo: its controllers never pause."""
DEMO_QUIET_SECONDS = 0.3
"""A trial of the demo."""

# Starting, answering, stopping

READY_SECONDS = 60.0
"""What staleproof starts is ready by then: etcd, kube-apiserver, companions, the proxy."""
ANSWER_SECONDS = 60.0
"""A request of which nothing else is said: to an API server, the proxy, a container engine."""
VERSION_SECONDS = 15.0
"""The version of an API server of the user's."""
PROBE_ANSWER_SECONDS = 5.0
"""A request that asks only whether a server is there."""
ENGINE_PROBE_SECONDS = 0.4
"""The same to a container engine, by the automatic choice: every run waits for that."""
METRICS_ANSWER_SECONDS = 2.0
"""A reading of the controller's metrics."""
ESTABLISHED_SECONDS = 30.0
"""A new CustomResourceDefinition is served by then."""
BROUGHT_SECONDS = 30.0
"""By then a controller has made the CustomResourceDefinition that a prerequisite asks for."""
PERHAPS_BROUGHT_SECONDS = 5.0
"""The same of a kind that no prerequisite asks for: the controller may make its definition when it starts."""
BROUGHT_AGAIN_SECONDS = 0.25
"""The API server is asked whether it knows the kind as often."""
WEBHOOK_SECONDS = 30.0
"""A webhook may not answer for so long; a controller that was just started serves its own within seconds."""
CATCH_UP_SECONDS = 30.0
"""A direct watch has shown by then what a list shows."""
DIRECT_WATCH_SECONDS = 604800
"""An API server ends a watch after 30 to 60 minutes unless asked for another time (`timeoutSeconds`, API reference). By then, the
revision that a quiet watch on events could resume from is compacted: events have no bookmarks."""
GIVEN_SECONDS = 5.0
"""What companions put into a new namespace is there by then."""
DELETED_SECONDS = 10.0
"""An object or a namespace that was deleted is gone by then."""
DEPARTURE_SECONDS = 180.0
"""What was deleted is gone by then, and another may be made in its place: finalizers may be taken off by a loop."""
KEPT_SECONDS = 10.0
"""The same while something is seen to keep it, or is open that may."""
LOOKS_SECONDS = 2.0
"""A controller that has opened a watch has looked for its primaries by then."""
NAME_FREE_SECONDS = 5.0
"""A name that is the same in each trial is free again by then."""
GRACE_SECONDS = 5.0
"""Between TERM and KILL: the controller, the proxy, etcd, companions."""
OTHERS_GRACE_SECONDS = 10.0
"""Between TERM and KILL: any other program, as a compiler."""
APISERVER_GRACE_SECONDS = 0.0
"""Between TERM and KILL: kube-apiserver. It would take a second to put things in order, and (if its etcd is gone) for ever; but its
data goes with it."""
KILL_SECONDS = 10.0
"""A container that was killed has exited by then."""
ENDING_SECONDS = 4.0
"""An interrupted run stops things in order for so long."""
CANCEL_SECONDS = 0.5
"""Then its tasks are cancelled, and cancelled again as often."""
INTERRUPTED_SECONDS = 10.0
"""Everything has stopped by then. A signal that comes later interrupts again: something hangs."""

# How often something is looked at

POLL_SECONDS = 0.05
"""A condition that something else than an entry or a known time can make true."""
RETRY_SECONDS = 0.1
"""What failed and will soon succeed: a list, discovery of a new resource, a reading of metrics."""
LOOK_SECONDS = 0.2
"""A lock that another process holds, the log of a build, metrics in `doctor`, the line that shows progress, a run's end."""
PROGRESS_SECONDS = 30.0
"""How far a run is, in the log of a CI system."""
PRIOR_SECONDS = 20.0
"""So many seconds of plans count as having taken as long as expected, before any is over: the time left is estimated from that."""
FOUND_SECONDS = 20.0
"""What was found takes about so much longer: it is compared, run again, perhaps made smaller."""
GIT_SECONDS = 10.0
"""git has so long to say which version of a checkout this is."""
WEBHOOK_RETRY_SECONDS = 0.25
"""A write whose webhook does not answer."""
SWEEP_SECONDS = 0.5
"""Containers that a dead run has left."""
READY_POLL_SECONDS = 0.02
"""Whether a program is ready."""
METRICS_SECONDS = 1.0
"""The controller's metrics, while something is going on."""
UNTIL_DUE_SECONDS = 86400.0
"""Whether metrics are to be read: whatever makes it so wakes the task that waits."""

# The proxy

GLANCE_SECONDS = 0.005
"""How often it looks whether a client, or a reader of the history, has taken what it was sent."""
UNREAD_SECONDS = 30.0
"""A client that reads nothing for so long is not waited for."""
LAST_WORDS_SECONDS = 2.0
"""When it ends, readers of the history have so long to take the rest."""
SHUTDOWN_SECONDS = 0.1
"""The same for its commands."""
JOURNAL_PACE_SECONDS = 0.002
"""Entries that come within this are sent together: one by one they would cost more than all the rest."""
KEEP_ALIVE_SECONDS = 30.0
"""A connection to kube-apiserver is used again within this: it closes one after 90 s, perhaps at the moment of the next request."""
TRICKLE_SECONDS = 0.05
"""Between two events of a hold that is released one by one, at most."""
TRICKLE_IN_ALL_SECONDS = 2.0
"""For all of them."""
