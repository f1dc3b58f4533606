/** The house rules that a test can hold. */
import { main, packages, type Requirement, rows, scale } from "./row.ts";

export const STYLE_ROWS: readonly Requirement[] = rows("style, house rules", {
  "style-one-page": main("All control frames fit on one page, one doc line each."),
  "style-request-response": main("Relay handlers are Request to Response and are tested without a port."),
  "style-no-sniffing": main("No file outside src/runtime asks which runtime it is in."),
  "style-browser-safe": main("protocol, client, crypto and phone type-check with the DOM's types alone."),
  "style-no-sleep": main("No test sleeps for a time: a fake clock or a condition."),
  "style-one-body": main("One test body per seam runs over every implementation of it."),
  "style-private-tmux": main("Tests use real tmux on private sockets with a throw-away home."),
  "style-rows": main("A row without a test and a test that cites no known row fail the suite."),
  "style-wire-table": main("Wire errors are one table with stable codes."),
  "style-messages": main(
    "A message says what failed, to which quoted value, a colon, why, and what is accepted.",
  ),
  "style-limits": main("Every limit is a named constant with its unit."),
  "style-bounded": main("Every queue is bounded; a peer that falls behind is dropped."),
  "style-backoff": main("Back-off resets after calm, and every timer obeys its abort signal."),
  "style-sizes": main("No file over 400 lines, no function over 80."),
  "style-names": main("Files are snake_case and tests mirror the source's path."),
  "style-syntax": main("No enum, no any, no suppressed lint or type error."),
  "style-duty": main("Each file opens with one sentence on its duty."),
  "style-mod-examples": packages("Exported symbols of mod.ts carry a runnable example."),
  "style-store-bodies": scale("The store's tests run over SQLite and NATS alike."),
});
