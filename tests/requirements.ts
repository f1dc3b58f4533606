/** Every requirement on svc, as data: each is cited by the names of the tests that show it. */
import { AGENT_SCREEN_ROWS } from "./requirements/agent_screens.ts";
import { ARCHITECTURE_ROWS } from "./requirements/architecture.ts";
import { CLOSED_ROWS } from "./requirements/closed.ts";
import { EXPERIENCE_ROWS } from "./requirements/experience.ts";
import { HOOK_ROWS } from "./requirements/hooks.ts";
import { INJECTION_ROWS } from "./requirements/injection.ts";
import { KEYS_ROWS } from "./requirements/keys.ts";
import { PACKAGE_ROWS } from "./requirements/packages.ts";
import { PRODUCT_ROWS } from "./requirements/product.ts";
import { PROTOCOL_ROWS } from "./requirements/protocol.ts";
import { QUALITY_ROWS } from "./requirements/quality.ts";
import type { Requirement } from "./requirements/row.ts";
import { SECURITY_ROWS } from "./requirements/security.ts";
import { SPEC_ROWS } from "./requirements/spec.ts";
import { SPEC_WIRE_ROWS } from "./requirements/spec_wire.ts";
import { STYLE_ROWS } from "./requirements/style.ts";
import { WEB_PUSH_ROWS } from "./requirements/web_push.ts";

export { BUILT, CAPABILITIES, type Capability, type Requirement } from "./requirements/row.ts";

export const REQUIREMENTS: readonly Requirement[] = [
  ...SPEC_ROWS,
  ...SPEC_WIRE_ROWS,
  ...PRODUCT_ROWS,
  ...INJECTION_ROWS,
  ...HOOK_ROWS,
  ...PROTOCOL_ROWS,
  ...WEB_PUSH_ROWS,
  ...SECURITY_ROWS,
  ...CLOSED_ROWS,
  ...KEYS_ROWS,
  ...ARCHITECTURE_ROWS,
  ...EXPERIENCE_ROWS,
  ...QUALITY_ROWS,
  ...STYLE_ROWS,
  ...AGENT_SCREEN_ROWS,
  ...PACKAGE_ROWS,
];
