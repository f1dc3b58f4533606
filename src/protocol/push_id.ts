/** The name of a push: chosen by its sender, so that sending it again does nothing twice. */
import * as z from "zod/mini";

export const PushId = z.string().check(
  z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "a lower-case UUID"),
);
