import { Fault } from '../../../errors.ts'
import { encodeMailbox } from '../folders/mailbox-name.ts'
import { astring } from './command-encoding.ts'
import { stringOf, type Value } from './response.ts'
import type { Wire } from './wire.ts'

/**
 * Requires that the administrator’s LIST shows the mailbox of a user. With autocreate, Cyrus creates
 * a mailbox for any name that an administrator enters, so a typing error would get all messages.
 * @param wire signed in as the administrator
 * @throws Fault `upstream_rejected` when it is not shown, ImapRefused, ImapLost
 */
export async function requireCyrusUser(wire: Wire, user: string, host: string): Promise<void> {
  if (/[%*]/.test(user))
    throw new Fault('invalid_request', 'The user of a Cyrus server must not contain % or *.')
  const separator = await separatorOf(wire)
  const names = await list(wire, `user${separator}${internalName(user, separator)}`)
  if (names.length > 0) return
  throw new Fault(
    'upstream_rejected',
    `${host} has no mailbox of ${user} that the administrator can list. Check the spelling: signing in as a new name could create it.`,
  )
}

async function separatorOf(wire: Wire): Promise<string> {
  const [separator] = await list(wire, '')
  return separator || '.'
}

/** In names that are separated by dots, Cyrus writes the dots of a user as `^`. */
function internalName(user: string, separator: string): string {
  if (separator !== '.') return user
  const [local = '', ...domain] = user.split('@')
  return [local.replaceAll('.', '^'), ...domain].join('@')
}

/** The delimiters of the mailboxes that match. */
async function list(wire: Wire, name: string): Promise<string[]> {
  const found: string[] = []
  await wire.run(['LIST "" ', astring(encodeMailbox(name))], {
    data(values: Value[]) {
      if (values[0] !== 'LIST') return false
      found.push(stringOf(values[2]) ?? '')
      return true
    },
  })
  return found
}
