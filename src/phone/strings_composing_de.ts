/** The texts of what helps with writing, in German. */
import type { Strings } from "./strings.ts";

export const COMPOSING_STRINGS_DE: Pick<Strings, "suggestions" | "insert" | "snippet"> = {
  suggestions: {
    label: "Befehle dieses Agenten",
    count: (commands) => commands === 1 ? "1 Vorschlag" : `${commands} Vorschläge`,
  },
  insert: {
    open: "Zur Nachricht hinzufügen",
    heading: "Zur Nachricht hinzufügen",
    search: "Suchen",
    snippets: "Textbausteine",
    noSnippets: "Texte, die du oft sendest. Sichere einen, dann ist er nur einen Tipp entfernt.",
    saveDraft: "Entwurf als Textbaustein sichern",
    create: "Neuer Textbaustein",
    sent: "Schon gesendet",
    noSent: "Was du an diese Sitzung sendest, erscheint hier.",
    nothingFound: "Nichts gefunden",
    earlier: "Frühere Nachrichten laden",
    change: (name) => `${name} ändern`,
    close: "Schließen",
  },
  snippet: {
    headingNew: "Neuer Textbaustein",
    heading: "Textbaustein ändern",
    name: "Name",
    namePlaceholder: "Die erste Zeile des Textes",
    text: "Text",
    save: "Sichern",
    delete: "Löschen",
    deleteAsk: (name) => `Den Textbaustein „${name}“ löschen?`,
    back: "Zurück",
    full: (most) => `Dieses Telefon behält ${most} Textbausteine. Lösch erst einen.`,
    notKept: "Dieser Browser konnte ihn nicht sichern.",
  },
};
