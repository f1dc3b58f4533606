/** Anything may happen to a real agent's dialog while a phone answers it: no other request gets the answer, and receipts are true. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import { raceCards, type Round } from "./cards_race.ts";
import { agents, cardRounds } from "./form.ts";
import { quantile } from "./race_account.ts";

/** True if the answer's outcome agrees with what happened. `unknown` claims nothing. */
function isTrue({ answered: { state, reason }, isApplied }: Round): boolean {
  if (isApplied === undefined) return true;
  switch (state) {
    case "submitted":
      return isApplied;
    case "refused":
      return !isApplied && reason === "dialog_gone";
    case "closed":
      return !isApplied;
    default:
      return state === "unknown" && reason === "answer_unconfirmed";
  }
}

const times = (all: readonly number[]): string =>
  `median ${Math.round(quantile(all, 0.5))} ms p99 ${Math.round(quantile(all, 0.99))} ms of ${all.length}`;

for (const kind of agents()) {
  Deno.test(`${kind}: while a phone answers its dialog it is withdrawn, answered at the computer, or joined by another [other-agents, card-race, card-applied]`, async () => {
    const rounds = await raceCards(kind, {
      rounds: cardRounds(),
      onRound: (round, place) => {
        if (!isTrue(round) || round.answered.state === "unknown" || round.isOtherAllowed) {
          say(`round ${place} of ${kind}: ${JSON.stringify(round)}`);
        }
      },
    });
    const count = (holds: (round: Round) => boolean): number => rounds.filter(holds).length;
    const counts = {
      rounds: rounds.length,
      applied: count(({ answered }) => answered.state === "submitted"),
      "too late": count(({ answered: { state } }) => state === "refused" || state === "closed"),
      unknown: count(({ answered }) => answered.state === "unknown"),
      "both said no": count(({ isApplied }) => isApplied === undefined),
      "to another request": count(({ isOtherAllowed }) => isOtherAllowed),
      untrue: count((round) => !isTrue(round)),
    };
    const counted = Object.entries(counts).map(([what, number]) => `${what} ${number}`).join(", ");
    const applied = rounds.flatMap(({ appliedMs }) => appliedMs ?? []);
    const asked = rounds.map(({ cardMs }) => cardMs);
    say(`cards ${kind}: ${counted}, to the card ${times(asked)}, from the tap ${times(applied)}`);
    assert.equal(counts["to another request"], 0);
    assert.equal(counts.untrue, 0);
    const calm = rounds.filter(({ happening }) => happening === "nothing");
    assert.deepEqual(calm.filter(({ answered }) => answered.state !== "submitted"), []);
  });
}
