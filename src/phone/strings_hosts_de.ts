/** The texts of starting and ending agents, and of a session's menu, in German. */
import type { Strings } from "./strings.ts";

export const HOST_STRINGS_DE: Pick<Strings, "list" | "start" | "menu" | "mute"> = {
  list: {
    search: "Sitzungen suchen",
    found: (sessions) => sessions === 1 ? "1 Sitzung gefunden" : `${sessions} Sitzungen gefunden`,
    nothing: "Keine passende Sitzung.",
    clear: "Alle zeigen",
    grouping: "Sitzungen gruppieren",
    groupings: { state: "Nach Zustand", host: "Nach Rechner" },
    noSessions: "Hier läuft kein Agent.",
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
