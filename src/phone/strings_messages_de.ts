/** The texts of dialogs and of what helps with messages, in German. */
import type { SessionStrings } from "./strings.ts";

export const MESSAGE_STRINGS_DE: Pick<
  SessionStrings,
  "dialog" | "later" | "suggestions" | "insert" | "snippet" | "upload" | "shortcuts"
> = {
  dialog: {
    waiting: (age: string) => `Wartet, ${age}`,
    open: "Ein Dialog ist offen",
    loading: "Text wird geladen …",
    closed: "Dialog, geschlossen",
    reject: "Ablehnen",
    interrupt: "Unterbrechen",
    sending: "Wird an den Rechner gesendet …",
    done: "Die Taste wurde gedrückt.",
    failed: (why: string) => `Nicht ausgeführt. ${why}`,
    setting: {
      none:
        "Beantworte ihn am Rechner; um ihn von hier abzulehnen, setze allowRemoteApproval in dessen config.json.",
      reject:
        'Um von hier auch zuzustimmen, setze allowRemoteApproval in der config.json des Rechners auf "once".',
      type:
        "allowRemoteApproval auf dem Rechner erlaubt dir, ihn mit den Tasten in seinem Terminal zu beantworten.",
    },
  },
  later: {
    heading: "Später senden",
    idle: "Sobald der Agent bereit ist",
    reset: "Sobald das Nutzungslimit zurückgesetzt ist",
    resetAt: (time: string) => `Sobald das Nutzungslimit zurückgesetzt ist (${time})`,
    at: (time: string) => `Um ${time}`,
    other: "Zu einer anderen Zeit",
    schedule: "Planen",
    cancel: "Zurück",
  },
  suggestions: {
    label: "Befehle dieses Agenten",
    count: (commands) => commands === 1 ? "1 Vorschlag" : `${commands} Vorschläge`,
  },
  insert: {
    open: "Zur Nachricht hinzufügen",
    heading: "Zur Nachricht hinzufügen",
    search: "Suchen",
    snippets: "Textbausteine",
    noSnippets: "Texte, die du oft sendest. Einen gesicherten fügst du mit einem Fingertipp ein.",
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
    full: (most) => `Dieses Telefon behält ${most} Textbausteine. Lösche erst einen.`,
    notKept: "Dieser Browser konnte ihn nicht sichern.",
  },
  upload: {
    choose: "Bild oder Datei",
    sending: (name) => `${name} wird gesendet`,
    waiting: (name) => `Pausiert, bis die Verbindung wieder da ist: ${name}`,
    failed: (name) => `${name} wurde nicht gesendet.`,
    cancel: "Abbrechen",
    dismiss: "Schließen",
    tooLarge: (most) => most === "" ? "Zu groß." : `Zu groß: Dieser Rechner nimmt höchstens ${most} an.`,
    other: (reason) => `Der Rechner hat sie abgelehnt: ${reason}.`,
    reasons: {
      lost: "Die Verbindung war zu lange weg. Sende die Datei noch einmal, wenn sie wieder da ist.",
      silent: "Der Rechner antwortet nicht. Vielleicht ist er offline, oder diese Anmeldung darf nur lesen.",
      old: "Das svc auf dem Rechner nimmt noch keine Dateien an. Aktualisiere es dort.",
      unpaired:
        "Dateien werden nur Ende-zu-Ende-verschlüsselt gesendet. Kopple dieses Telefon mit dem Rechner: svc pair.",
      sealed_required:
        "Dateien werden nur Ende-zu-Ende-verschlüsselt gesendet. Kopple dieses Telefon mit dem Rechner: svc pair.",
      unreadable: "Das Telefon konnte sie nicht lesen.",
      empty: "Sie ist leer.",
      muted: "Das Projekt ist auf dem Rechner stummgeschaltet. Hebe das dort auf: svc unmute.",
      rate_limited: "Zu viele Dateien in kurzer Zeit. Warte einen Moment.",
      upload_busy: "Es werden schon andere Dateien gesendet. Warte, bis sie angekommen sind.",
      upload_not_allowed: "Der Rechner nimmt keine Dateien an: uploadMaxBytes in seiner config.json ist 0.",
      upload_full: "Der Rechner hat keinen Platz für weitere Dateien. Alte entfernt er nach einer Woche.",
      upload_not_stored:
        "Der Rechner konnte sie nicht speichern. Warum, steht in seinem Protokoll: svc logs.",
      upload_stalled:
        "Eine Minute lang kam nichts an, deshalb hat der Rechner abgebrochen. Sende sie noch einmal.",
      upload_damaged: "Sie kam beschädigt an, deshalb hat der Rechner sie entfernt. Sende sie noch einmal.",
    },
  },
  shortcuts: {
    heading: "Tastenkürzel",
    names: {
      send: "Nachricht senden",
      write: "Nachricht schreiben",
      search: "Suchen",
      switch: "Terminal oder Nachrichten",
      back: "Feld verlassen, dann zurück",
      leaveLive: "Live-Terminal verlassen",
      help: "Diese Liste",
    },
    control: "Strg oder ⌘",
    shift: "Umschalt",
    enter: "Eingabe",
    live: "Solange du live tippst, geht jede Taste an das Terminal.",
    singleKeys: "Kürzel mit nur einer Taste",
    close: "Schließen",
  },
};
