/** What is wrong with a relay's certificate, from the error of a failed request: it looks as if no relay answered. */
import { errorText } from "../async/error_text.ts";
import type { LinkProblem } from "./link_problem.ts";

interface CertificateFault {
  why: string;
  /** What would help. */
  fix: string;
}

const TRUST =
  "name the file of that authority in NODE_EXTRA_CA_CERTS, or in DENO_CERT where svc runs on Deno";

/** By what Node's code or Deno's text contains; the last row is for all other faults that Deno finds. */
const FAULTS: readonly (CertificateFault & { signs: RegExp })[] = [
  {
    signs: /ERR_TLS_CERT_ALTNAME_INVALID|not valid for name|NotValidForName/,
    why: "its certificate does not name this host",
    fix: "use an address that the certificate names",
  },
  {
    signs: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|certificate expired|Expired|NotValidYet|not valid yet/,
    why: "its certificate has expired, or is not valid yet",
    fix: "renew it on the relay, or set this machine's clock",
  },
  {
    signs: /Failed opening CA file/,
    why: "the file of authorities in DENO_CERT cannot be opened",
    fix: "correct that variable, or unset it",
  },
  {
    signs: /CaUsedAsEndEntity/,
    why: "its certificate is marked as an authority's own",
    fix: "make one with basicConstraints=CA:FALSE",
  },
  {
    signs:
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED|invalid peer certificate/,
    why: "no authority that this machine trusts has signed its certificate",
    fix: TRUST,
  },
];

/** Of a relay client's error. Only its causes count: its own text may be the words of something that answers. */
export function certificateFault(error: unknown): CertificateFault | undefined {
  const [, ...below] = causes(error);
  const facts = below.map((cause) => `${codeOf(cause)} ${errorText(cause)}`).join("\n");
  return FAULTS.find(({ signs }) => signs.test(facts));
}

/** The error and its causes, the outermost first. */
function causes(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}

/** The message of a relay client's error; for a certificate that is not trusted, with the reason and what would help. */
export function relayErrorText(error: unknown): string {
  const fault = certificateFault(error);
  const explained = (_: string, address: string): string =>
    `the relay at ${address} is not trusted: ${fault?.why}; ${fault?.fix}`;
  const text = errorText(error);
  return fault === undefined ? text : text.replace(/no relay answers at ("[^"]*"); check .*$/s, explained);
}

/** What helps a host, beyond what a problem's own text says. */
const HOST_ADVICE: Partial<Record<LinkProblem["code"], string>> = {
  revoked: 'If this host itself was revoked, give it another "deviceName" in its config.json.',
  device_taken:
    'For a second host with this name, or a second home on this host, set "deviceName" in its config.json to a different name. After a change of keys, run on the relay: svc devices release ID, or svc keys revoke OLD-KEY --only.',
};

/** Why a host's link is down, after a colon; empty while that is not known. */
export function problemText(problem: LinkProblem | undefined): string {
  const fault = certificateFault(problem?.cause);
  if (fault !== undefined) return `: The relay is not trusted: ${fault.why}; ${fault.fix}.`;
  if (problem === undefined) return "";
  return [`: ${problem.message}`, HOST_ADVICE[problem.code]].filter(Boolean).join(" ");
}
