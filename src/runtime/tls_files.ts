/** Checks that a server can use a certificate and its key: no runtime does, and later every handshake would fail. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

/** What is wrong with these PEM texts: the certificate, the key, or that they do not belong together. */
export type TlsFault = "certificate" | "key" | "pair";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/s;
const PRIVATE_KEY = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----.*?-----END \1-----/s;

/** What is wrong with the texts, or undefined. Of several certificates, the first one is the server's own. */
export function tlsFault({ cert, key }: { cert: string; key: string }): TlsFault | undefined {
  const certificate = readCertificate(cert);
  if (certificate === undefined) return "certificate";
  const privateKey = readPrivateKey(key);
  if (privateKey === undefined) return "key";
  return certificate.checkPrivateKey(privateKey) ? undefined : "pair";
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(CERTIFICATE.exec(pem)?.[0] ?? "");
  } catch {
    return undefined;
  }
}

function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(PRIVATE_KEY.exec(pem)?.[0] ?? "");
  } catch {
    return undefined;
  }
}
