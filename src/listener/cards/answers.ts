/** What a phone's answer to a card means for the agent's hook, and for the audit log. */
import type { DialogAnswer } from "../../agents/hooks.ts";
import type { Answer, CardData } from "../../protocol/ask.ts";

/** For the audit log: never the texts. */
export function aboutText(card: CardData, answer: Answer | undefined): string {
  if (card.kind === "questions") return `${card.questions.length} question(s)`;
  const decision = answer?.kind === "decided" ? answer.decision : "nothing";
  return `${card.tool} ${card.digest} ${decision} of ${card.decisions.join("|")}`;
}

/** The answer for the hook: what the phone bound to its question has been checked by then. */
export function dialogAnswer(answer: Answer): DialogAnswer | undefined {
  if (answer.kind === "answers") return answer;
  if (answer.kind !== "decided") return undefined;
  const { kind, decision, reason } = answer;
  return { kind, decision, reason };
}
