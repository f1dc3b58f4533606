/** The German texts for managing hosts and agents: list, agents, muting, settings, audit log, notifications. */
import type { NotificationStrings, Strings } from "./strings.ts";
import type { AuditStrings } from "./strings_settings.ts";

export const HOST_STRINGS_DE: Pick<Strings, "list" | "start" | "menu" | "mute"> = {
  list: {
    search: "Sitzungen suchen",
    found: (sessions) => sessions === 1 ? "1 Sitzung gefunden" : `${sessions} Sitzungen gefunden`,
    nothing: "Keine passende Sitzung.",
    clear: "Alle zeigen",
    grouping: "Sitzungen gruppieren",
    groupings: { state: "Nach Zustand", host: "Nach Rechner" },
    noSessions: "Hier läuft kein Agent.",
    offline: "Offline",
    settings: "Einstellungen",
    remove: (host) => `${host} aus der Liste entfernen`,
    removeAsk: (host) =>
      `${host} und seine Sitzungen aus der Liste dieses Telefons entfernen? Sobald er wieder online ist, erscheint er wieder. Die Kopplung bleibt.`,
  },
  start: {
    open: "Agent starten",
    heading: "Agent starten",
    host: "Rechner",
    project: "Projekt",
    agent: "Agent",
    start: "Starten",
    starting: "Startet …",
    close: "Schließen",
    again: "Zurück",
    failed: (why) => `Nicht gestartet. ${why}`,
    unclear:
      "Der Rechner hat nicht rechtzeitig gemeldet, ob der Agent gestartet ist. Sieh in der Liste nach.",
    notAllowed: (host) =>
      `Auf ${host} darf kein Telefon Agenten starten. Um es zu erlauben, trage dies in seine config.json ein und starte den Listener neu:`,
    setting: '"allowAgentStart": true',
    unknown: (host) =>
      `${host} hat nicht gemeldet, was sich starten lässt. Entweder läuft dort ein älteres svc, oder dieses Telefon ist nicht mit ihm gekoppelt.`,
    noProjects: (host) =>
      `${host} kennt noch kein Projekt. Starte dort einmal einen Agenten in einem Projekt, dann steht es hier:`,
    command: "svc cc",
  },
  menu: {
    open: "Über diese Sitzung",
    close: "Schließen",
    host: "Rechner",
    directory: "Ordner",
    started: "Gestartet",
    version: "Version des Agenten",
    end: "Agent beenden",
    endAsk: (label) => `${label} beenden? Er hört sofort auf, und was er gerade tut, geht verloren.`,
    endAttached: "Am Rechner hat ihn jemand offen.",
    endNow: "Jetzt beenden",
    keep: "Weiterlaufen lassen",
    ending: "Wird beendet …",
    ended: "Der Agent ist beendet.",
    failed: (why) => `Nicht beendet. ${why}`,
    unclear: "Der Rechner hat nicht rechtzeitig gemeldet, ob der Agent beendet ist. Sieh in der Liste nach.",
    endNotAllowed:
      "Um Agenten vom Telefon aus zu beenden, trage dies in die config.json des Rechners ein und starte den Listener neu:",
    endSetting: '"allowAgentEnd": true',
  },
  mute: {
    mute: "Projekt stummschalten",
    unmute: "Stummschaltung aufheben",
    hint: "Ein stummes Projekt nimmt nichts von Telefonen an, und seine Agenten melden sich nicht.",
    isMuted:
      "Dieses Projekt ist stumm: es nimmt nichts von Telefonen an, und seine Agenten melden sich nicht.",
    mutedThere:
      "Dieses Projekt wurde am Rechner stummgeschaltet. Um das aufzuheben, führe dies dort in seinem Ordner aus:",
    command: "svc unmute",
    needsLink: "Was stumm ist, steht hier, sobald dieses Telefon wieder verbunden ist.",
    asking: "Der Rechner wird gefragt …",
    done: "Der Rechner hat es getan.",
    failed: (why) => `Nichts geändert. ${why}`,
    unclear: "Der Rechner hat nicht rechtzeitig geantwortet. Versuch es noch einmal.",
    heading: "Stumme Projekte",
    none: "Keine. Stumm wird ein Projekt im Menü einer seiner Sitzungen oder mit svc mute auf dem Rechner.",
    listHint: "Sie nehmen nichts von Telefonen an, und ihre Agenten melden sich nicht.",
    byPhone: "Vom Telefon stummgeschaltet",
    atComputer: "Am Rechner stummgeschaltet: svc unmute",
  },
};

export const SETTINGS_STRINGS_DE: Pick<Strings, "addHost" | "settings"> = {
  addHost: {
    heading: "Rechner hinzufügen",
    back: "Einstellungen",
    lead: "Führe dies auf dem Rechner mit deinen Agenten aus und scanne den Code, den er zeigt.",
    command: "svc pair",
    scan: "QR-Code scannen",
    stop: "Kamera ausschalten",
    aim: "Richte die Kamera auf den QR-Code.",
    notALink: "Dieser Code ist kein Kopplungslink von svc.",
    pasteLabel: "Kopplungslink",
    pasteHint: "Oder füge den Link ein, der unter dem Code steht.",
    pair: "Koppeln",
    wrongLink: "Das ist kein Kopplungslink. Er beginnt mit http und enthält #pair=.",
    otherRelay: (relay) => `Dieser Link gehört zu einem anderen Relay, ${relay}. Öffne ihn im Browser.`,
    camera: {
      unsupported: "Diese Seite hat keine Kamera: das braucht https. Füge stattdessen den Link ein.",
      denied:
        "Der Browser darf die Kamera nicht benutzen. Erlaube es in seinen Einstellungen, oder füge den Link ein.",
      no_camera: "Es wurde keine Kamera gefunden. Füge stattdessen den Link ein.",
    },
  },
  settings: {
    heading: "Einstellungen",
    back: "Alle Agenten",
    hosts: "Gekoppelte Rechner",
    noHosts:
      "Kein Rechner ist mit diesem Telefon gekoppelt. Was du sendest, ist nicht Ende-zu-Ende verschlüsselt.",
    online: "Online",
    offline: "Offline",
    notKnown: "Ohne Verbindung nicht bekannt",
    rename: "Umbenennen",
    renameLabel: "Name auf diesem Telefon",
    save: "Speichern",
    cancel: "Abbrechen",
    forget: "Vergessen",
    audit: "Protokoll",
    forgetAsk: (host) =>
      `${host} vergessen? Dieses Telefon kann dann seine verschlüsselten Nachrichten weder lesen noch schreiben, bis du es wieder koppelst.`,
    appearance: "Darstellung",
    theme: "Farben",
    themes: { system: "Automatisch", light: "Hell", dark: "Dunkel" },
    textSize: "Schriftgröße",
    textSizes: { 85: "85 %", 100: "100 %", 115: "115 %", 130: "130 %", 150: "150 %", 200: "200 %" },
    notKept: "Dieser Browser speichert keine Einstellungen: die Wahl gilt, bis du neu lädst.",
    devices: "Geräte",
    devicesHint: "Alles, was einen Schlüssel dieses Kontos hat.",
    thisDevice: "Dieses Telefon",
    kinds: { phone: "Telefon", listener: "Rechner", script: "Skript" },
    lastSeen: (age) => `Zuletzt gesehen ${age}`,
    revoke: "Sperren",
    revokeAsk: (name) => `${name} sperren? Sein Schlüssel gilt sofort nicht mehr.`,
    keyWorks: ({ id, name }) =>
      `Der Schlüssel „${name}“ gilt weiter, weil ihn auch andere Geräte benutzen. Um sie alle zu sperren, und die damit gekoppelten Telefone, führe auf dem Relay aus: svc keys revoke ${id}`,
    revokeOnHost:
      "Der Schlüssel dieses Telefons darf keine anderen Geräte sperren. Führe dies auf dem Rechner aus:",
    revokeCommand: (id) => `svc devices revoke ${id}`,
    hooks: "Hooks",
    hooksHint: "Die Rechner, deren Agenten melden, wenn sie fragen, auf dich warten oder fertig sind.",
    noHooks: "Noch hat kein Agent etwas gemeldet.",
    hookPushes: (pushes) => `${pushes} ${pushes === 1 ? "Meldung" : "Meldungen"}`,
    hookStates: { active: "Aktiv", muted: "Stumm", revoked: "Gesperrt" },
    loading: "Lädt …",
    failed: "Das Relay hat nicht geantwortet. Versuch es später noch einmal.",
    readAgain:
      "Das Relay hat nicht geantwortet. Sobald die Verbindung wieder da ist, wird noch einmal gelesen.",
    history: "Was gesendet wurde",
    historyHint:
      "Alle Nachrichten und Quittungen, die das Relay aufbewahrt, mit den Texten, die dieses Telefon lesen kann.",
    exportAll: "Als Datei speichern",
    exporting: (count) => `Liest … ${count}`,
    about: "Über",
    account: "Konto",
    relay: "Relay",
    version: "Version",
    unknownAccount: "Nicht bekannt",
    signOut: "Abmelden",
  },
};

export const AUDIT_STRINGS_DE: AuditStrings = {
  heading: "Protokoll",
  back: "Einstellungen",
  lead: (host: string) =>
    `Alles, was von anderswo an ${host} geschickt wurde, das Neueste zuerst. Die Texte selbst stehen nie darin.`,
  keys: (state: string) => `Tasten: ${state}`,
  file: (state: string) => `Datei: ${state}`,
  stored: "Gespeichert",
  characters: (count: number) => `${count.toLocaleString("de")} Zeichen`,
  bytes: (count: number) => `${count.toLocaleString("de")} Byte`,
  actions: {
    "agent.start": "Agenten starten",
    "agent.end": "Agenten beenden",
    "agent.cancel": "Nachricht abbrechen",
    "dialog.answer": "Dialog beantworten",
    "project.mute": "Projekt stummschalten oder nicht mehr",
    "ask.answer": "Karte beantworten",
  },
  from: (device: string) => `von ${device}`,
  digest: "SHA-256",
  reading: "Wird gelesen …",
  older: "Ältere Einträge laden",
  all: "Ältere Einträge gibt es nicht.",
  end:
    "Das sind die ältesten Einträge, die sich hier lesen lassen. Auf dem Rechner zeigt svc logs --audit die ganze Datei.",
  none: "An diesen Rechner wurde noch nichts geschickt.",
  failed: "Der Rechner hat nicht geantwortet.",
  again: "Noch einmal versuchen",
  unpaired: "Nur ein Telefon, das mit diesem Rechner gekoppelt ist, kann sein Protokoll lesen.",
  noSession:
    "Der Rechner lässt sich fragen, während eine seiner Sitzungen läuft. Starte einen Agenten und komm zurück.",
  offline: "Der Rechner ist offline. Das Protokoll wird gelesen, sobald er wieder da ist.",
  save: (count: number) =>
    `${count.toLocaleString("de")} ${count === 1 ? "Eintrag" : "Einträge"} als Datei speichern`,
};

export const NOTIFICATION_STRINGS_DE: NotificationStrings = {
  notification: {
    asks: (session) => `${session} fragt`,
    wantsPermission: (session) => `${session} bittet um Erlaubnis`,
    titles: {
      ask: "Eine Frage an dich",
      "agent.attention": "Ein Agent wartet auf dich",
      "agent.stop": "Ein Agent ist fertig",
      note: "Eine Notiz von einem Agenten",
    },
    note: "Notiz",
    answered: "Beantwortet",
    unknown: "Es gibt etwas Neues",
    test: "Benachrichtigungen funktionieren",
    testSealed: "Der Text wurde für dieses Telefon verschlüsselt und auf ihm geöffnet.",
    testPlain: "Dieses Telefon ist mit keinem Rechner gekoppelt, deshalb kommen sie ohne ihren Text.",
  },
  notifications: {
    heading: "Benachrichtigungen",
    link: "Benachrichtigungen",
    back: "Einstellungen",
    lead:
      "Fragen, Dialoge und Notizen erreichen dieses Telefon, auch wenn die App zu ist, und du erfährst, wenn ein Agent fertig ist.",
    on: "Einschalten",
    turningOn: "Wird eingeschaltet …",
    off: "Auf diesem Telefon ausschalten",
    isOn: "An",
    isOff: "Aus",
    why: {
      insecure:
        "Browser erlauben Benachrichtigungen nur über https. Öffne das Relay unter einer https-Adresse; svc up nennt die, die geht.",
      install:
        "Auf iPhone und iPad bekommen nur Apps auf dem Home-Bildschirm Benachrichtigungen. Tippe auf Teilen, dann auf „Zum Home-Bildschirm“, und öffne svc von dort.",
      unsupported:
        "Dieser Browser kann keine Benachrichtigungen empfangen. Chrome, Edge und Firefox auf Android und auf Rechnern können es, Safari ab Version 16.4.",
      denied:
        "Benachrichtigungen sind für diese Seite gesperrt. Erlaube sie in den Einstellungen des Browsers und öffne die Seite noch einmal.",
    },
    noWorker:
      "Der Teil von svc, der Benachrichtigungen empfängt, wurde nicht geladen. Prüfe das Netz, lade die Seite neu und versuche es noch einmal.",
    problem: (why) => `Das ging nicht: ${why}`,
    kindsHeading: "Wann es klingelt",
    kinds: {
      ask: "Fragen",
      "agent.attention": "Dialoge, die auf dich warten",
      "agent.stop": "Fertige Agenten",
      note: "Notizen",
    },
    quietHeading: "Ruhezeit",
    quiet: "Nachts nicht klingeln",
    from: "Von",
    to: "Bis",
    quietHint: (zone) => `Nach der Zeit von ${zone}. Was inzwischen kommt, steht im Eingang.`,
    sessionsHeading: "Für eine Sitzung",
    sessionsNone: "Keine Sitzung läuft.",
    sessionState: (off) => off === 0 ? "Klingelt" : "Klingelt teilweise",
    sessionSilent: "Still",
    testHeading: "Probe",
    test: "Probe senden",
    testing: "Wird gesendet …",
    testSteps: {
      relay: (ms) => `Das Relay nahm sie nach ${ms} ms an`,
      relayFailed: (why) => `Das Relay nahm sie nicht an: ${why}`,
      vendor: (ms) => `Der Push-Dienst des Browsers nahm sie nach ${ms} ms an`,
      vendorFailed: (why) => `Der Push-Dienst des Browsers nahm sie nicht an: ${why}`,
      opened: (ms) => `Dieses Telefon bekam sie nach ${ms} ms`,
      sealed: "Ihr Text war verschlüsselt und wurde hier geöffnet",
      plain: "Sie hatte keinen Text: dieses Telefon ist mit keinem Rechner gekoppelt",
      shown: (ms) => `Die Benachrichtigung war nach ${ms} ms zu sehen`,
      waiting: "Wartet, bis sie ankommt …",
    },
  },
};
