/** The house rules that a test can check. */
import { main, packages, type Requirement, rows, scale } from "./row.ts";

const HOUSE_RULES = rows("CONTRIBUTING.md, House rules", {
  "style-one-page": main("All control frames fit on one page, one doc line each."),
  "style-request-response": main(
    "Relay handlers are functions from Request to Response and are tested without a port.",
  ),
  "style-no-sniffing": main("No file outside src/runtime checks which runtime it is in."),
  "style-browser-safe": main("protocol, client, crypto and phone type-check with only the DOM's types."),
  "style-no-sleep": main("No test sleeps for a fixed time: it uses a fake clock or waits for a condition."),
  "style-one-body": main("One test body per seam runs over every implementation of it."),
  "style-private-tmux": main("Tests use real tmux on private sockets with a temporary home."),
  "style-rows": main(
    "The suite fails for a row without a test, a test that cites no known row, and a source that names no heading.",
  ),
  "style-wire-table": main("Wire errors are one table with stable codes."),
  "style-messages": main(
    "A message says what failed, for which quoted value, a colon, why, and what is accepted.",
  ),
  "style-limits": main("Every limit is a named constant with its unit."),
  "style-bounded": main("Every queue is bounded; a peer that falls behind is dropped."),
  "style-backoff": main("Back-off resets after calm, and every timer obeys its abort signal."),
  "style-sizes": main(
    "A file over 450 lines or a function over 60 needs a reason, and none is over 500 or 80.",
  ),
  "style-names": main("Files are snake_case and tests mirror the source's path."),
  "style-syntax": main("No enum, no any, no suppressed lint or type error."),
  "style-duty": main("Each file opens with one sentence on what it does."),
  "style-mod-examples": packages("Exported symbols of mod.ts carry a runnable example."),
  "style-store-bodies": scale("The store's tests run over SQLite and NATS alike."),
});

const DOCUMENTS = rows("CONTRIBUTING.md, Documents", {
  "doc-reasons": packages("The troubleshooting page explains what to do about every reason."),
  "doc-findings": packages("The troubleshooting page has every finding of svc verify."),
  "doc-settings": packages("The configuration page has every key of config.json."),
  "doc-commands": packages("The configuration page has every command."),
  "doc-api": packages("The API page calls every route with curl."),
  "doc-links": packages("Every link between the documents leads to a page and a heading that exist."),
  "doc-examples": packages(
    "Every shell example of the documents runs against a real relay and listener, or is listed with the reason why not.",
  ),
});

export const STYLE_ROWS: readonly Requirement[] = [...HOUSE_RULES, ...DOCUMENTS];
