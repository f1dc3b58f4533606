/** Every text on the page in German. */
import type { Strings } from "./strings.ts";
import {
  AUDIT_STRINGS_DE,
  HOST_STRINGS_DE,
  NOTIFICATION_STRINGS_DE,
  SETTINGS_STRINGS_DE,
} from "./strings_manage_de.ts";
import { REASON_STRINGS_DE } from "./strings_reasons_de.ts";
import { CARD_STRINGS_DE, SESSION_STRINGS_DE } from "./strings_session_de.ts";

export const GERMAN: Strings = {
  code: "de",
  app: {
    title: "svc",
    longTitle: "svc-Fernsteuerung",
    description: "Schick den Coding-Agenten in deinen Terminals Nachrichten.",
    needsScript: "Diese Seite braucht JavaScript.",
    stillLoading: "Lädt noch. Kommt nichts weiter, prüfe das Netz und lade die Seite neu.",
    restoring: "Lädt …",
    language: "Sprache",
  },
  signIn: {
    heading: "Deine Agenten auf dem Telefon",
    lead: "Sieh, was deine Agenten im Terminal tun, und antworte ihnen von hier.",
    pairHeading: "Mit deinem Rechner koppeln",
    pairLead: "Führe dies dort aus und scanne den QR-Code:",
    keyHeading: "Oder mit einem API-Schlüssel anmelden",
    keyLabel: "API-Schlüssel",
    keyHint: "Er beginnt mit svc_ und bleibt auf diesem Gerät.",
    submit: "Anmelden",
    checking: "Schlüssel wird geprüft …",
    pairing: "Wird gekoppelt …",
    pairingAgain: "Das Relay antwortet nicht. Neuer Versuch …",
    show: "Zeigen",
    hide: "Verbergen",
    noKeyHeading: "Noch kein Schlüssel?",
    pairCommand: "svc up",
    noKeyMake: "Erstelle einen auf dem Rechner:",
    keyCommand: "svc keys create --name phone --scope push:read,push:send",
    problems: {
      unauthenticated: "Das Relay kennt diesen Schlüssel nicht. Prüfe, ob du ihn vollständig kopiert hast.",
      missing_scope:
        "Mit diesem Schlüssel lassen sich keine Sitzungen lesen. Erstelle einen mit den Rechten push:read und push:send.",
      unreachable: "Das Relay antwortet nicht. Prüfe das Netz und versuch es noch einmal.",
      timeout: "Das Relay antwortet nicht. Prüfe das Netz und versuch es noch einmal.",
      rate_limited: "Zu viele Versuche. Warte einen Moment und versuch es noch einmal.",
      unknown_pairing:
        "Dieser Kopplungscode wurde schon benutzt oder ist abgelaufen. Erstelle auf dem Rechner einen neuen.",
      page_failed:
        "Ein Teil dieser Seite wurde nicht geladen, oder dieser Browser kann nichts speichern. Prüfe das Netz und versuch es noch einmal.",
      damaged_link: "Dieser Link ist unvollständig. Erstelle auf dem Rechner mit svc pair einen neuen Code.",
      unproven_host:
        "Das Relay konnte nicht beweisen, dass der Code von deinem Rechner kommt, deshalb wurde nichts gekoppelt. Erstelle auf dem Rechner mit svc pair einen neuen Code. Geschieht das wieder, vertrau dem Relay nicht.",
    },
    wordsDiffer: (phone) =>
      `Die Kopplung wurde von diesem Telefon entfernt. Führe auf dem Rechner svc devices revoke ${phone} aus. Sieh dann in svc devices nach und sperre jedes andere Gerät, das du nicht kennst.`,
  },
  swap: {
    heading: "Konto wechseln?",
    question: "Dieser Link meldet das Telefon bei einem anderen Konto an. Wechsle nur, wenn du das wolltest.",
    key: (beginning) => `Schlüssel ${beginning}`,
    from: "Jetziges Konto",
    to: "Im Link",
    lost: (unsent) => {
      const hosts = "Dieses Telefon vergisst die Rechner, mit denen es gekoppelt ist";
      return unsent === 0
        ? `${hosts}.`
        : `${hosts}, und verliert ${
          count(unsent, "nicht gesendete Nachricht", "nicht gesendete Nachrichten")
        }.`;
    },
    keep: "Konto behalten",
    change: "Konto wechseln",
  },
  picker: {
    heading: "Agenten",
    summary: (sessions, hosts) => `${sessionCount(sessions)} auf ${count(hosts, "Rechner", "Rechnern")}`,
    loading: "Sitzungen werden geladen …",
    groups: {
      waiting: "Wartet auf dich",
      working: "Arbeitet",
      idle: "Bereit",
      ended: "Beendet",
      offline: "Offline",
    },
    emptyHeading: "Kein Agent läuft",
    emptyText: "Starte einen in einem Projekt auf dem Rechner, dann erscheint er hier:",
    emptyCommand: "svc cc",
    noHostHeading: "Kein Rechner ist verbunden",
    noHostText: "Starte den Listener auf dem Rechner, auf dem deine Agenten laufen:",
    noHostCommand: "svc up",
    signOut: "Abmelden",
    signOutAsk: (unsent) =>
      `Abmelden? Entwürfe gehen verloren${
        unsent ? `, und ${count(unsent, "nicht gesendete Nachricht", "nicht gesendete Nachrichten")}` : ""
      }. Zum Zurückkommen muss dieses Telefon neu gekoppelt werden.`,
  },
  pairing: {
    heading: (host) => `Mit ${host} vergleichen`,
    compare: (host) => `Zeigt ${host} diese sechs Wörter in dieser Reihenfolge?`,
    same: "Sie stimmen überein",
    differ: "Sie sind anders",
    failedHeading: "Der Link hat nicht funktioniert",
    understood: "Weiter",
  },
  sealing: {
    short: {
      psk: "Ende-zu-Ende verschlüsselt",
      base: "Rechner nicht bestätigt, verschlüsselt",
      off: "Nicht verschlüsselt",
    },
    plain: "Nicht verschlüsselt: das Relay könnte es gefälscht haben",
  },
  card: {
    attached: "Verbunden",
    detached: "Getrennt",
    muted: "Stumm",
    lastSeen: (age) => `Zuletzt gesehen ${age}`,
    notAddressable: "Nimmt gerade keine Nachrichten an",
    newerAgent: (version, measured) =>
      `Agent ${version} ist neuer als ${measured}, die Version, mit der svc geprüft wurde`,
    widened: (keys) => `Von der Konfiguration des Rechners erlaubt: ${keys}`,
  },
  inbox: {
    heading: "Eingang",
    back: "Alle Agenten",
    link: "Eingang",
    waiting: (questions) => `${count(questions, "Frage", "Fragen")} an dich`,
    open: "Offene Fragen",
    closed: "Früher",
    emptyHeading: "Noch nichts da",
    emptyText: "Hier erscheinen die Fragen und Notizen deiner Agenten, und was sie gemacht haben.",
    notReached: "Fragen und Notizen erscheinen, sobald das Relay erreichbar ist.",
    loading: "Lädt …",
    notifications: {
      note: "Notiz",
      broadcast: "An alle Geräte",
      "agent.stop": "Fertig",
      "agent.attention": "Wartet am Terminal",
    },
  },
  question: {
    noSession: "Ein Agent",
    left: (span) => `noch ${span}`,
    leftSoon: "Weniger als 1 min übrig",
    late: "Wartet nicht mehr",
    lateHint: "Der Agent wartet nicht mehr. Deine Antwort wird in seine Sitzung getippt.",
    send: "Antwort senden",
    ownAnswer: "Mit eigenen Worten antworten",
    answerLabel: "Deine Antwort",
    noChoice: "Auswählen …",
    optional: "optional",
    yours: "Deine Antwort",
    anothers: "Die Antwort",
    reading: "Die Antwort wird geladen …",
    sending: "Deine Antwort wird gesendet …",
    waitingForLink: "Deine Antwort wird gesendet, sobald die Verbindung wieder da ist",
    notSent: "Deine Antwort wurde nicht gesendet",
    takeBack: "Verwerfen",
    tryAgain: "Noch einmal",
    outcomes: {
      pending: "Wird dem Agenten zugestellt",
      received: "Der Agent hat sie erhalten",
      typed: "Der Agent wartete nicht mehr, deshalb wird sie in die Sitzung getippt",
      lost: "Die Sitzung gibt es nicht mehr, deshalb kam sie nicht an",
    },
    typedState: (state) => `In der Sitzung: ${state}`,
    closed: {
      withdrawn: "Der Agent hat die Frage zurückgezogen",
      expired: "Die Frage ist abgelaufen",
    },
    announce: (open) => open === 0 ? "Keine offenen Fragen" : count(open, "offene Frage", "offene Fragen"),
  },
  unread: (items: number) => `${items} ungelesen`,
  offline: "Offline",
  states: {
    starting: "Startet",
    working: "Arbeitet",
    waiting: "Wartet",
    idle: "Bereit",
    exited: "Beendet",
  },
  link: {
    live: "Live",
    connecting: "Verbindet …",
    down: "Verbindet neu …",
    stopped: "Nicht verbunden",
    tryNow: "Jetzt versuchen",
    unsent: (n) => n === 1 ? "1 Nachricht wartet aufs Senden." : `${n} Nachrichten warten aufs Senden.`,
    signInAgain: "Neu anmelden",
    problems: {
      unauthenticated:
        "Das Relay kennt diesen Schlüssel nicht: Nimm einen anderen, oder kopple dieses Telefon noch einmal.",
      missing_scope: "Dem Schlüssel fehlt das Recht push:read: Nimm einen, der es hat.",
      unreachable:
        "Unter dieser Adresse antwortet kein Relay: Prüfe das Netz, und ob das Relay läuft (svc up oder svc server).",
      timeout: "Das Relay hat nicht rechtzeitig geantwortet.",
      bad_answer: "Unter dieser Adresse antwortet etwas anderes als ein Relay: Prüfe die Adresse.",
      handshake_failed:
        "Das Relay antwortet über HTTP, aber nicht über WebSocket: Vielleicht sperrt ein Proxy dazwischen WebSockets.",
      no_welcome: "Das Relay hat die Verbindung angenommen, aber die Begrüßung nicht beantwortet.",
      silent: "Vom Relay kam zu lange nichts.",
      congested: "Das Relay hat nicht mehr gelesen, was ihm gesendet wurde.",
      restarting: "Das Relay startet neu.",
      revoked:
        "Dieser Schlüssel wurde gesperrt, oder ihm fehlt ein Recht: Kopple dieses Telefon noch einmal, oder nimm einen anderen Schlüssel.",
      wrong_role:
        "Dieser Schlüssel ist nicht für ein Telefon: Nimm einen anderen, oder kopple dieses Telefon.",
      replaced: "Eine andere Verbindung dieses Geräts hat übernommen.",
      device_taken: "Ein anderer Schlüssel hat schon diese Gerätekennung: Kopple dieses Telefon noch einmal.",
      flood: "Das Relay hat die Verbindung beendet, weil zu viel gesendet wurde.",
      too_large: "Das Relay hat eine Nachricht abgelehnt, weil sie zu groß war.",
      slow: "Das Relay hat die Verbindung beendet, weil sie nicht schnell genug gelesen wurde.",
      closed: "Die Verbindung wurde beendet.",
    },
  },
  session: {
    limited: "Der Agent hat sein Nutzungslimit erreicht.",
    limitedUntil: (time: string) => `Der Agent hat sein Nutzungslimit erreicht. Zurückgesetzt: ${time} Uhr.`,
    back: "Alle Agenten",
    messages: "Nachrichten",
    older: "Frühere Nachrichten zeigen",
    emptyHeading: "Noch keine Nachrichten",
    emptyText: "Was du sendest, wird ins Terminal getippt und abgeschickt.",
    muted: "Dieses Projekt ist stumm: Nachrichten werden abgelehnt.",
    loading: "Nachrichten werden geladen …",
    notReached: "Frühere Nachrichten erscheinen, sobald das Relay erreichbar ist.",
  },
  cards: CARD_STRINGS_DE,
  audit: AUDIT_STRINGS_DE,
  ofSession: SESSION_STRINGS_DE,
  ...SETTINGS_STRINGS_DE,
  noStorage: {
    text:
      "Dieser Browser behält nichts für diese Seite. Erlaube Websitedaten, oder verlasse den privaten Modus, und lade die Seite neu.",
    reload: "Neu laden",
  },
  ofNotifications: NOTIFICATION_STRINGS_DE,
  ...HOST_STRINGS_DE,
  bubble: {
    cancel: "Abbrechen",
    edit: "Bearbeiten",
    showAll: "Alles zeigen",
    showLess: "Weniger zeigen",
    sendAgain: "Noch einmal senden",
    sendAnyway: "Trotzdem senden",
    sendAgainIn: (wait) => `Noch einmal senden in ${wait}`,
    discard: "Verwerfen",
    announce: (state, detail) => `Nachricht: ${state}. ${detail}`,
  },
  receipt: {
    cancelled: "Abgebrochen",
    cancelling: "Wird abgebrochen …",
    cancellingOffline: "Sie ist vielleicht schon beim Rechner; er entscheidet, sobald er wieder da ist.",
    scheduled: "Geplant",
    laterAt: (time: string) => `Sie wird später getippt (${time} Uhr).`,
    laterWhen: {
      idle: "Sie wird getippt, sobald der Agent bereit ist.",
      reset: "Sie wird getippt, sobald das Nutzungslimit des Agenten zurückgesetzt ist.",
    },
    laterOffline: "Der Rechner ist offline und muss bis dahin wieder da sein.",
    heldByDialog: "Sie wird von selbst getippt, sobald der Dialog geschlossen ist.",
    waitingForLink: "Wartet auf die Verbindung",
    sending: "Wird gesendet …",
    failed: "Nicht gesendet",
    failures: {
      missing_scope:
        "Dieser Schlüssel kann lesen, aber nicht senden. Melde dich mit einem an, der das Recht push:send hat.",
      unknown_device: "Das Relay kennt diesen Rechner nicht mehr.",
      too_large: "Die Nachricht ist zu groß für das Relay.",
      invalid_push: "Das Relay nimmt diesen Text nicht an. Ändere ihn und sende ihn noch einmal.",
      ask_closed: "Jemand hat schon geantwortet, oder der Agent hat die Frage zurückgezogen.",
      unknown_push: "Das Relay kennt diese Frage nicht mehr.",
      not_prepared:
        "Dieser Browser konnte seinen Speicher nicht lesen oder schreiben. Lade die Seite neu und sende sie noch einmal.",
      refused_by_proxy:
        "Etwas zwischen diesem Telefon und dem Relay weist sie ab. Es wird weiter versucht, bis du sie abbrichst.",
      not_yet: "Sie konnte noch nicht gesendet werden. Es wird von selbst weiter versucht.",
      unsealable:
        "Sie muss verschlüsselt sein, aber dieses Telefon ist nicht mehr mit dem Rechner gekoppelt. Es wurde nichts gesendet.",
    },
    states: {
      queued: "Eingereiht",
      delivered: "Zugestellt",
      held: "Zurückgehalten",
      typed: "Getippt",
      submitted: "Abgeschickt",
      refused: "Abgelehnt",
      expired: "Abgelaufen",
      unknown: "Unklar",
      ignored: "Übergangen",
      answered: "Beantwortet",
      withdrawn: "Abgebrochen",
    },
    unproven: (claimed) =>
      `Das Relay meldet „${claimed}“, aber der Rechner hat es nicht bestätigt. Sieh im Terminal nach, bevor du noch einmal sendest.`,
    queuedOffline: (until) =>
      `Der Rechner ist offline. Die Nachricht wird zugestellt, wenn er bis ${until} wieder da ist.`,
    typedFinal:
      "Sie steht in der Eingabezeile des Agenten, aber svc konnte nicht bestätigen, dass sie abgeschickt wurde. Sieh im Terminal nach.",
    expired: "Sie konnte nicht rechtzeitig getippt werden, deshalb wurde nichts getippt.",
    unknown:
      "Der Listener wurde beim Tippen beendet, sie kann also getippt worden sein. Sieh im Terminal nach, bevor du noch einmal sendest.",
    heldGoesOn: "Danach wird sie von selbst getippt.",
    heldBriefly: "Darauf wartet sie 10 Sekunden, dann wird sie abgelehnt.",
    refusedOther: (reason) => `Der Rechner hat sie abgelehnt: ${reason}.`,
  },
  ...REASON_STRINGS_DE,
  ages: {
    now: "gerade eben",
    minutes: (value) => `${value} min`,
    hours: (value) => `${value} h`,
    days: (value) => count(value, "Tag", "Tage"),
    ago: (age) => `vor ${age.replace(/Tage$/, "Tagen")}`,
  },
  devices: { iphone: "iPhone", ipad: "iPad", android: "Android-Telefon", browser: "Browser" },
};

function count(value: number, one: string, many: string): string {
  return `${value} ${value === 1 ? one : many}`;
}

function sessionCount(value: number): string {
  return count(value, "Sitzung", "Sitzungen");
}
