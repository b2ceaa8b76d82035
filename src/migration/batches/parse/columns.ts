/** What a column of a file can contain. `user` and `password` are for both sides. */
export const FIELDS = [
  'sourceHost',
  'sourcePort',
  'sourceSecurity',
  'sourceUser',
  'sourceEmail',
  'sourcePassword',
  'destinationHost',
  'destinationPort',
  'destinationSecurity',
  'destinationUser',
  'destinationEmail',
  'destinationPassword',
  'user',
  'password',
] as const
export type Field = (typeof FIELDS)[number]

/** Names of the sides in headers, without spaces and punctuation. */
const SIDES = {
  source: ['source', 'src', 'from', 'old', 'remote'],
  destination: ['destination', 'dest', 'dst', 'target', 'to', 'new', 'local'],
}

const PARTS: Record<string, readonly string[]> = {
  Host: ['host', 'hostname', 'server', 'imaphost', 'imapserver'],
  Port: ['port', 'imapport'],
  Security: ['security', 'ssl', 'tls', 'encryption', 'secure'],
  User: ['user', 'username', 'login', 'loginname', 'mailbox', 'account'],
  Email: ['email', 'emailaddress', 'mail', 'address'],
  Password: ['password', 'passwd', 'pass', 'pw'],
}

/** Fields by header: `Source Email`, `old_server`, `host1`, `password_destination`. */
const FIELD_BY_HEADER = new Map<string, Field>([
  ...Object.entries(SIDES).flatMap(([side, sideNames]) =>
    Object.entries(PARTS).flatMap(([part, partNames]) => {
      const field = `${side}${part}` as Field
      const digit = side === 'source' ? '1' : '2'
      return partNames.flatMap((name): [string, Field][] => [
        ...sideNames.flatMap((which): [string, Field][] => [
          [which + name, field],
          [name + which, field],
        ]),
        [name + digit, field],
      ])
    }),
  ),
  ...['email', 'emailaddress', 'mail', 'user', 'username', 'login', 'mailbox', 'account'].map(
    (name): [string, Field] => [name, 'user'],
  ),
  ...['password', 'passwd', 'pass'].map((name): [string, Field] => [name, 'password']),
])

/** Reduces a header to letters and digits: `Source E-Mail` becomes `sourceemail`. */
export function normalizeHeader(header: string): string {
  return header.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** The field of each column by its header; null where it is unknown or was named before. */
export function fieldsByHeader(header: readonly string[]): (Field | null)[] {
  const taken = new Set<Field>()
  return header.map((name) => {
    const field = FIELD_BY_HEADER.get(normalizeHeader(name)) ?? null
    if (field === null || taken.has(field)) return null
    taken.add(field)
    return field
  })
}
