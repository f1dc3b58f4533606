/** The texts of cards in the page's language, and a card's answer as they say it. */
import { type Asked, Decision } from "../protocol/ask.ts";
import { STRINGS } from "./strings.ts";
import { CARD_STRINGS, type CardStrings } from "./strings_cards.ts";

export const CARDS: CardStrings = STRINGS.cards ?? CARD_STRINGS;

/** A decision is kept by its name, with a reason after a colon. */
export function givenText(ask: Asked, body: string): string {
  const [name, ...reason] = ask.kind === "approval" ? body.split(": ") : [];
  const decision = Decision.safeParse(name).data;
  return decision === undefined ? body : [CARDS.decided[decision], ...reason].join(": ");
}
