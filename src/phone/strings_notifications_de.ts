/** Texts of notifications and of their settings, in German. */
import type { Strings } from "./strings.ts";

export const NOTIFICATION_STRINGS_DE: Pick<Strings, "notification" | "notifications"> = {
  notification: {
    asks: (session) => `${session} fragt`,
    wantsPermission: (session) => `${session} bittet um Erlaubnis`,
    untold: {
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
