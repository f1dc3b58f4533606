/** The texts of a host's audit log in German. */
import type { AuditStrings } from "./strings_audit.ts";

export const AUDIT_STRINGS_DE: AuditStrings = {
  heading: "Protokoll",
  back: "Einstellungen",
  lead: (host: string) =>
    `Alles, was von anderswo an ${host} geschickt wurde, das Neueste zuerst. Die Texte selbst stehen nie darin.`,
  keys: (state: string) => `Tasten: ${state}`,
  file: (state: string) => `Datei: ${state}`,
  stored: "Gespeichert",
  characters: (count: number) => `${count.toLocaleString()} Zeichen`,
  bytes: (count: number) => `${count.toLocaleString()} Byte`,
  from: (device: string) => `von ${device}`,
  digest: "SHA-256",
  reading: "Wird gelesen…",
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
    `${count.toLocaleString()} ${count === 1 ? "Eintrag" : "Einträge"} als Datei speichern`,
};
