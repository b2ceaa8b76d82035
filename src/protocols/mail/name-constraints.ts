import {
  ADDRESS,
  DIRECTORY,
  DNS,
  EMAIL,
  partsOf,
  unwrapped,
  URI,
  type GeneralName,
  type NameConstraints,
} from './certificate-extensions.ts'

/**
 * Whether names are excluded by the constraints of an issuer, or outside of what it permits for
 * their kind (RFC 5280, 4.2.1.10). A kind that is constrained and cannot be compared is excluded.
 */
export function violatesConstraints(
  names: readonly GeneralName[],
  { permitted, excluded }: NameConstraints,
): boolean {
  return names.some((name) => {
    const ofKind = (subtrees: readonly GeneralName[]) =>
      subtrees.filter(({ kind }) => kind === name.kind)
    const within = ofKind(permitted)
    return (
      (within.length > 0 && !within.some((base) => isWithin(name, base) === true)) ||
      ofKind(excluded).some((base) => isWithin(name, base) !== false)
    )
  })
}

/** Whether a name is in a subtree; null for a kind that is not compared. */
function isWithin(name: GeneralName, base: GeneralName): boolean | null {
  const [text, under] = [name, base].map(({ value }) => value.toString('latin1').toLowerCase()) as [
    string,
    string,
  ]
  switch (name.kind) {
    case DNS:
      return under === '' || text === under || text.endsWith(under.replace(/^\.?/, '.'))
    case EMAIL:
      return isMailboxWithin(name.value.toString('latin1'), base.value.toString('latin1'))
    case URI:
      return isHostWithin(/^[^:]+:\/\/(?:[^@/]*@)?([^:/?#]*)/.exec(text)?.[1] ?? '', under)
    case ADDRESS:
      return isAddressWithin(name.value, base.value)
    case DIRECTORY: {
      const parts = partsOf(name)
      return partsOf(unwrapped(base)).every((part, index) => part === parts[index])
    }
    default:
      return null
  }
}

/** A host itself, or with a leading dot all below it, but not that name. */
function isHostWithin(host: string, base: string): boolean {
  return base.startsWith('.') ? host.endsWith(base) && host !== base : host === base
}

/** A mailbox, whose local part has case; or a host. */
function isMailboxWithin(mailbox: string, base: string): boolean {
  const [local, host] = mailbox.split(/@(?=[^@]*$)/)
  const at = base.lastIndexOf('@')
  const baseHost = base.slice(at + 1).toLowerCase()
  const isSame = at < 0 || base.slice(0, at) === local
  return isSame && isHostWithin((host ?? '').toLowerCase(), baseHost)
}

/** The bytes of an address and of a mask (RFC 5280, 4.2.1.10). */
function isAddressWithin(address: Buffer, base: Buffer): boolean {
  if (base.length !== address.length * 2) return false
  return address.every((byte, index) => {
    const mask = base[address.length + index] ?? 0
    return (byte & mask) === ((base[index] ?? 0) & mask)
  })
}
