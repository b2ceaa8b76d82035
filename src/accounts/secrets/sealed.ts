import { Fault } from '../../errors.ts'
import { decrypt, encrypt } from '../../store/encryption.ts'

/**
 * Seals data into a text that only this service can open, until it expires. For links in emails and
 * for steps that a browser continues, so that requests of strangers leave nothing in the database.
 * @param context the purpose: a text for one purpose cannot be opened for another
 */
export function sealUntil(
  data: object,
  { secretKey, context, lifetimeMs }: { secretKey: string; context: string; lifetimeMs: number },
): string {
  return encrypt(JSON.stringify({ data, expiresAt: Date.now() + lifetimeMs }), secretKey, context)
}

/**
 * Opens a text of `sealUntil`. Its shape is that which this service sealed for the context.
 * @param message of the Fault for a text that is invalid or expired
 * @throws Fault `forbidden`
 */
export function openSealed(
  sealed: string,
  { secretKey, context, message }: { secretKey: string; context: string; message: string },
): unknown {
  let opened: { data: unknown; expiresAt: number }
  try {
    opened = JSON.parse(decrypt(sealed, secretKey, context)) as typeof opened
  } catch {
    throw new Fault('forbidden', message)
  }
  if (opened.expiresAt <= Date.now()) throw new Fault('forbidden', message)
  return opened.data
}
