/** Makes what a NATS server with TLS and users needs, and what its clients need: certificates by openssl, and signed users. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { nkeys } from "@nats-io/transport-node";
import { encodeBase64url, encodeUtf8 } from "../../src/async/encodings.ts";

type KeyPair = ReturnType<typeof nkeys.createUser>;

const runFile = promisify(execFile);

async function openssl(...args: string[]): Promise<void> {
  await runFile("openssl", args);
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** Creates a certificate authority; its certificate is `<file>.pem`. */
export async function makeAuthority(file: string): Promise<void> {
  const subject = ["-subj", "/CN=test authority", "-days", "2"];
  await openssl("req", "-x509", ...NEW_KEY, "-keyout", `${file}.key`, "-out", `${file}.pem`, ...subject);
}

/** Returns the configuration lines of a server whose certificate for 127.0.0.1 is signed by the authority. */
export async function tlsLines(file: string, authority: string): Promise<string[]> {
  await makeCertificate(file, { authority, name: "IP:127.0.0.1" });
  return [`tls: { cert_file: "${file}.pem", key_file: "${file}.key" }`];
}

/** Creates `<file>.pem` and `<file>.key`. `name` has the form of a subjectAltName. */
export async function makeCertificate(
  file: string,
  { authority, name }: { authority: string; name: string },
): Promise<void> {
  await openssl("req", ...NEW_KEY, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", "/CN=relay");
  await writeFile(`${file}.ext`, `subjectAltName=${name}\n`);
  await openssl(
    ...["x509", "-req", "-in", `${file}.csr`, "-CA", `${authority}.pem`, "-CAkey", `${authority}.key`],
    ...["-CAcreateserial", "-days", "2", "-extfile", `${file}.ext`, "-out", `${file}.pem`],
  );
}

/** Returns the configuration lines of a server with one user, identified by an nkey, and the user's seed. */
export function nkeyUser(): { lines: string[]; seed: string } {
  const user = nkeys.createUser();
  return {
    lines: [`authorization: { users: [ { nkey: ${user.getPublicKey()} } ] }`],
    seed: textOf(user.getSeed()),
  };
}

function unlimited(...names: string[]): Record<string, number | boolean> {
  return { ...Object.fromEntries(names.map((name) => [name, -1])), wildcards: true };
}

const OF_ACCOUNT = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"];
const OF_JETSTREAM = ["mem_storage", "disk_storage", "streams", "consumer"];

/**
 * Returns the configuration lines of a server with an operator, and a user's credentials in the form that nsc writes.
 */
export function credentialsUser(): { lines: string[]; credentials: string } {
  const [operator, user] = [nkeys.createOperator(), nkeys.createUser()];
  const [system, account] = [nkeys.createAccount(), nkeys.createAccount()];
  const operatorToken = token(operator, { subject: operator, nats: { type: "operator" } });
  const accounts = [
    { subject: system, limits: unlimited(...OF_ACCOUNT) },
    { subject: account, limits: unlimited(...OF_ACCOUNT, ...OF_JETSTREAM) },
  ].map(({ subject, limits }) =>
    `${subject.getPublicKey()}: "${token(operator, { subject, nats: { type: "account", limits } })}"`
  );
  const userToken = token(account, {
    subject: user,
    nats: { type: "user", subs: -1, data: -1, payload: -1 },
  });
  return {
    lines: [
      `operator: "${operatorToken}"`,
      "resolver: MEMORY",
      `system_account: ${system.getPublicKey()}`,
      `resolver_preload: { ${accounts.join(", ")} }`,
    ],
    credentials: [
      "-----BEGIN NATS USER JWT-----",
      userToken,
      "------END NATS USER JWT------",
      "",
      "-----BEGIN USER NKEY SEED-----",
      textOf(user.getSeed()),
      "------END USER NKEY SEED------",
      "",
    ].join("\n"),
  };
}

function token(
  issuer: KeyPair,
  { subject, nats }: { subject: KeyPair; nats: Record<string, unknown> },
): string {
  const part = (value: unknown): string => encodeBase64url(encodeUtf8(JSON.stringify(value)));
  const claims = {
    jti: crypto.randomUUID(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: "test",
    nats: { ...nats, version: 2 },
  };
  const signed = `${part({ typ: "JWT", alg: "ed25519-nkey" })}.${part(claims)}`;
  return `${signed}.${encodeBase64url(issuer.sign(encodeUtf8(signed)))}`;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
