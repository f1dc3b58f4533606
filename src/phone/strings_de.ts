/** Every text on the page in German. */
import type { Strings } from "./strings.ts";
import {
  AUDIT_STRINGS_DE,
  HOST_STRINGS_DE,
  NOTIFICATION_STRINGS_DE,
  SETTINGS_STRINGS_DE,
} from "./strings_manage_de.ts";
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
      `Abmelden? ${
        unsent
          ? `${
            count(unsent, "nicht gesendete Nachricht geht", "nicht gesendete Nachrichten gehen")
          } verloren. `
          : ""
      }Danach braucht dieses Telefon einen Kopplungslink oder einen Schlüssel.`,
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
  reasons: {
    dialog_not_allowed: "Auf diesem Rechner darf ein Telefon keine Dialoge beantworten.",
    dialog_gone: "Der Dialog ist nicht mehr offen, oder ein anderer ist offen.",
    answer_unconfirmed:
      "Die Antwort wurde dem Agenten gegeben, aber nichts zeigte, ob er sie angenommen hat.",
    phone_draft: "Was vom Telefon mit Live-Tasten getippt wurde, steht noch in der Eingabezeile.",
    not_before: "Die Nachricht wird zur eingestellten Zeit getippt.",
    until_idle: "Die Nachricht wird getippt, sobald der Agent bereit ist.",
    until_reset: "Die Nachricht wird getippt, sobald das Nutzungslimit des Agenten zurückgesetzt ist.",
    host_files:
      "svc kann seine Dateien auf dem Rechner nicht schreiben, vielleicht ist der Datenträger voll: die Nachricht wartet.",
    interrupted:
      "svc wurde auf dem Rechner beendet, während es den Text tippte. Er kann abgeschickt worden sein.",
    already_typed: "Die Nachricht wurde schon getippt oder wird gerade getippt.",
    shell_in_pane: "Der Agent ist nicht mehr da: eine Shell oder ein anderes Programm hat das Fenster.",
    panes_synchronized: "Andere Fenster bekämen den Text auch: in tmux ist synchronize-panes an.",
    no_such_session: "Keine tmux-Sitzung hat diesen Namen.",
    ambiguous_session: "Zwei tmux-Server haben eine Sitzung mit diesem Namen.",
    invalid_session_name: "Der Name der Sitzung enthält andere Zeichen als A-Z a-z 0-9 . _ -.",
    pane_dead: "Das Fenster ist beendet, angehalten oder nimmt keine Eingaben an.",
    rate_limited:
      "Zu viele Nachrichten: mehr als 30 in der Minute für diese Sitzung, oder zu viele, die warten.",
    shell_escape: "Eine Nachricht, die mit ! beginnt, würde im Agenten einen Shell-Befehl ausführen.",
    desk_busy: "Am Rechner tippt gerade jemand.",
    muted: "Das Projekt ist stummgeschaltet.",
    mute_failed: "Die Liste der stummen Projekte ließ sich nicht schreiben.",
    muted_at_computer: "Das Projekt wurde am Rechner stummgeschaltet.",
    invalid_body: "Der Text ist leer, zu lang oder enthält Steuerzeichen.",
    sealed_required: "Dieser Rechner nimmt nur verschlüsselte Nachrichten an.",
    unsealable: "Die verschlüsselte Nachricht ließ sich nicht öffnen.",
    counter_used: "Eine verschlüsselte Nachricht mit dieser Nummer wurde schon angenommen.",
    counter_old:
      "Die Nachricht liegt so weit hinter neueren von diesem Telefon, dass sie eine Wiederholung sein könnte.",
    answer_taken: "Der Agent, der gefragt hat, hat diese Antwort schon erhalten.",
    counter_missing:
      "Dieses Telefon nummeriert seine verschlüsselten Nachrichten, aber diese hat keine Nummer.",
    tmux_failed: "tmux hat den Befehl abgelehnt.",
    start_not_allowed: "Auf diesem Rechner darf kein Telefon Agenten starten.",
    unknown_project: "Dieser Rechner kennt das Projekt nicht.",
    ambiguous_project: "Dieser Rechner kennt mehrere Projekte mit diesem Namen.",
    unknown_agent: "Dieser Rechner kennt den Agenten nicht.",
    start_failed: "Der Agent konnte nicht gestartet werden.",
    end_not_allowed: "Auf diesem Rechner darf kein Telefon Agenten beenden.",
    not_started_by_svc: "Vom Telefon lässt sich nur ein Agent beenden, den svc gestartet hat.",
    session_changed: "Inzwischen hat eine andere Sitzung diesen Namen.",
    end_failed: "Der Agent konnte nicht beendet werden.",
    agent_starting: "Der Agent startet: seine Eingabezeile ist noch nicht zu sehen.",
    agent_working:
      "Der Agent arbeitet: die Nachricht wartet, bis kein Dialog sie stören kann, längstens, bis der Agent fertig ist.",
    unknown_screen: "Der Agent zeigt seine Eingabezeile nicht: ein anderer Bildschirm hat die Tastatur.",
    screen_stale: "Der Agent zeigte den Text nicht rechtzeitig in seiner Eingabezeile.",
    approval_change:
      "Das könnte ändern, wann der Agent um Erlaubnis fragt: es steht nicht auf der Liste der harmlosen Befehle.",
    key_not_allowed: "Diese Taste öffnet ein anderes Programm oder hält den Agenten an.",
    not_confirmed: "Der Text wurde getippt, aber nichts zeigte, ob der Agent ihn angenommen hat.",
    not_submitted: "Die Eingabezeile nahm Enter nicht an, deshalb wurde der Text wieder entfernt.",
    dialog_open: "Der Agent zeigt einen Dialog.",
    hook_muted: "Die Hooks dieser Installation sind stummgeschaltet.",
    unknown_type: "Dieser Listener kennt die Art dieser Nachricht nicht.",
    too_late: "Der Agent wartete nicht mehr: die Antwort wird stattdessen in seine Sitzung getippt.",
  },
  advice: {
    dialog_not_allowed: "Erlaube es auf dem Rechner: allowRemoteApproval in config.json.",
    dialog_gone: "Sieh in der Sitzung nach.",
    answer_unconfirmed: "Sieh in der Sitzung nach.",
    phone_draft:
      "Wenn du sie trotzdem sendest, steht sie hinter diesem Text, außer wenn der mit / oder ! beginnt. Oder beende ihn erst mit Live-Tasten.",
    not_before: "Bis dahin kannst du sie bearbeiten oder abbrechen.",
    until_idle: "Bis dahin kannst du sie bearbeiten oder abbrechen.",
    until_reset: "Bis dahin kannst du sie bearbeiten oder abbrechen.",
    host_files: "Schaffe auf dem Datenträger des Rechners Platz.",
    interrupted: "Sieh in der Sitzung nach, bevor du sie noch einmal sendest.",
    already_typed: "Sieh in der Sitzung nach dem Ergebnis.",
    shell_in_pane: "Starte den Agenten auf dem Rechner wieder mit svc.",
    panes_synchronized: "Schalte es auf dem Rechner aus.",
    no_such_session: "Wähle eine Sitzung aus der Liste.",
    ambiguous_session: "Benenne eine der beiden Sitzungen auf dem Rechner um.",
    invalid_session_name: "Benenne die Sitzung auf dem Rechner um.",
    pane_dead: "Sieh auf dem Rechner im Terminal nach.",
    rate_limited: "Warte, dann sende sie noch einmal.",
    shell_escape: "Beginne die Nachricht mit einem anderen Zeichen.",
    desk_busy:
      "Wenn du sie trotzdem sendest, wird sie hinter den Text getippt, der schon da steht, außer wenn der mit / oder ! beginnt.",
    muted:
      "Hebe die Stummschaltung dort auf, wo sie gesetzt wurde: im Menü der Sitzung, oder auf dem Rechner mit svc unmute.",
    mute_failed: "Sieh in das Protokoll des Listeners: svc logs.",
    muted_at_computer: "Hebe die Stummschaltung dort auf: svc unmute.",
    invalid_body: "Ändere den Text und sende ihn noch einmal.",
    sealed_required: "Kopple dieses Telefon mit dem Rechner: svc pair.",
    unsealable: "Kopple dieses Telefon noch einmal mit dem Rechner: svc pair.",
    counter_used:
      "Wurden die Daten dieses Browsers wiederhergestellt oder kopiert, kopple dieses Telefon noch einmal mit dem Rechner: svc pair.",
    counter_old: "Sende sie noch einmal.",
    answer_taken: "Sieh in der Sitzung nach, was daraus wurde.",
    counter_missing: "Lade diese Seite neu und sende sie noch einmal.",
    tmux_failed: "Sieh in das Protokoll des Listeners: svc logs.",
    start_not_allowed: "Erlaube es auf dem Rechner: allowAgentStart in config.json.",
    unknown_project: "Starte auf dem Rechner einmal einen Agenten in diesem Projekt: svc cc.",
    ambiguous_project: "Gib auch das Verzeichnis an.",
    unknown_agent: "Aktualisiere svc auf dem Rechner.",
    start_failed: "Sieh in das Protokoll des Listeners: svc logs.",
    end_not_allowed: "Erlaube es auf dem Rechner: allowAgentEnd in config.json.",
    not_started_by_svc: "Beende ihn am Rechner.",
    session_changed: "Sieh in der Liste der Sitzungen nach.",
    end_failed: "Sieh auf dem Rechner im Terminal nach.",
    agent_starting: "Dauert das lange, sieh im Terminal nach.",
    agent_working: "Mit svc setup auf dem Rechner nehmen manche Agenten auch beim Arbeiten Nachrichten an.",
    unknown_screen:
      "Esc hilft oft. Ist die Eingabezeile zu sehen, ist diese Version des Agenten neuer, als svc unterstützt.",
    screen_stale: "Sieh im Terminal nach, bevor du sie noch einmal sendest.",
    approval_change: "Gib es am Rechner ein, oder erlaube den Befehl dort: allowCommands in config.json.",
    key_not_allowed: "Benutze diese Taste am Rechner.",
    not_confirmed: "Sieh im Terminal nach, bevor du sie noch einmal sendest.",
    not_submitted: "Sende sie noch einmal.",
    dialog_open: "Sende sie noch einmal, wenn der Dialog geschlossen ist.",
    hook_muted: "Hebe die Stummschaltung am Relay auf.",
    unknown_type: "Aktualisiere svc auf dem Rechner.",
    too_late: "Sieh in der Sitzung nach, was daraus wurde.",
  },
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
