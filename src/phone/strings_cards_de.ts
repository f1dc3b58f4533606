/** The texts of cards in German. */
import type { CardStrings } from "./strings_cards.ts";

export const CARD_STRINGS_DE: CardStrings = {
  permission: "Bittet um Erlaubnis",
  tool: "Werkzeug",
  directory: "Ordner",
  request: "Die ganze Anfrage",
  wrap: "Zeilen umbrechen",
  unusual: {
    hidden_characters: "Sie enthält unsichtbare Zeichen. Jedes steht mit seiner Nummer da, etwa ⟨U+202E⟩.",
    long_lines: "Sie hat sehr lange Zeilen.",
    outside_project: "Sie nennt einen Pfad außerhalb des Projekts.",
  },
  withheld: {
    never_list: "Eine solche Anfrage lässt sich nie vom Telefon aus erlauben, nur am Rechner.",
    too_long: "Die Anfrage ist zu lang, um sie ganz zu zeigen. Von hier lässt sie sich nicht erlauben.",
  },
  decisions: { once: "Einmal erlauben", always: "Immer erlauben", reject: "Ablehnen" },
  reason: "Grund für die Ablehnung",
  readFirst: "Zum Erlauben lies die Anfrage erst bis zum Ende.",
  long: {
    load: (characters) => `Alles laden (${characters} Zeichen)`,
    loading: "Die Anfrage wird geladen",
    loadFirst: "Das ist ihr Anfang. Zum Erlauben lade sie erst ganz und geh bis zu ihrem Ende.",
    readFirst: "Zum Erlauben geh erst bis zu ihrem Ende.",
    size: (lines, characters) => `${lines} Zeilen, ${characters} Zeichen`,
    share: (percent) => `${percent} % davon waren auf deinem Bildschirm.`,
    toEnd: "Zum Ende",
    beginning: "Der Anfang der Anfrage",
    failed: {
      lost: "Keine Verbindung zum Rechner. Lade sie noch einmal.",
      silent: "Der Rechner antwortet nicht. Lade sie noch einmal.",
      unpaired: "Kopple dieses Telefon mit dem Rechner: svc pair.",
      gone: "Der Rechner hat sie nicht mehr: Der Dialog ist beantwortet, oder svc wurde dort neu gestartet.",
      changed: "Was ankam, ist nicht die Anfrage dieser Karte. Von hier lässt sie sich nicht erlauben.",
    },
  },
  moved: "Die Karte hatte sich gerade bewegt. Tippe noch einmal.",
  decided: { once: "Einmal erlaubt", always: "Immer erlaubt", reject: "Abgelehnt" },
  own: "Mit eigenen Worten",
  closed: {
    withdrawn: "Am Rechner beantwortet oder zurückgezogen",
    expired: "Der Agent wartet hier nicht mehr darauf: antworte am Rechner",
  },
  anothers: "Antwort von einem anderen Telefon",
  outcomes: {
    on_host: "Beim Rechner angekommen",
    applied: "Der Agent hat sie übernommen",
    gone: "Sie kam zu spät: der Dialog ist beantwortet oder geschlossen",
    refused: "Der Rechner hat sie abgelehnt",
    not_taken: "Der Rechner hat sie nicht rechtzeitig angenommen. Antworte am Rechner.",
    unclear: "Es ist nicht bekannt, ob der Agent sie übernommen hat. Sieh in der Sitzung nach.",
    unproven: "Das Relay meldet ein Ergebnis, das der Rechner nicht bestätigt hat. Sieh in der Sitzung nach.",
  },
};
