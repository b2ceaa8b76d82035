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

/** What spreadsheets in other languages call the user or address, and the password. */
const USER_TRANSLATIONS = (
  'emailadresse benutzername benutzer postfach adresseemail adressemail courriel utilisateur ' +
  'correo correoelectrónico usuario indirizzoemail utente endereçodeemail utilizador usuário ' +
  'emailadres gebruikersnaam gebruiker epost epostadress användarnamn brugernavn sähköposti ' +
  'adresemail użytkownik uživatel felhasználónév utilizator eposta kullanıcıadı пользователь ' +
  'логин почта користувач メールアドレス ユーザー名 邮箱 用户名 이메일'
).split(' ')
const PASSWORD_TRANSLATIONS = (
  'passwort kennwort motdepasse contraseña senha palavrapasse wachtwoord lösenord adgangskode ' +
  'passord salasana hasło heslo jelszó parola şifre пароль κωδικός パスワード 密码 비밀번호'
).split(' ')

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
  ...USER_TRANSLATIONS.map((name): [string, Field] => [name, 'user']),
  ...PASSWORD_TRANSLATIONS.map((name): [string, Field] => [name, 'password']),
])

/**
 * Reduces a header to letters and digits: `Source E-Mail` becomes `sourceemail`, and Google’s
 * `Email Address [Required]` becomes `emailaddress`.
 */
export function normalizeHeader(header: string): string {
  return header
    .toLowerCase()
    .replace(/\[[^\]]*\]/g, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** How many different names of columns are understood. */
export function countNames(header: readonly string[]): number {
  const names = header.map(normalizeHeader).filter((name) => FIELD_BY_HEADER.has(name))
  return new Set(names).size
}

/**
 * The field of each column by its header; null where it is unknown, was named before in other words,
 * or where several columns have its name, because only a person knows which of them is meant.
 */
export function fieldsByHeader(header: readonly string[]): (Field | null)[] {
  const names = header.map(normalizeHeader)
  const taken = new Set<Field>()
  return names.map((name) => {
    const field = FIELD_BY_HEADER.get(name) ?? null
    if (field === null || taken.has(field) || names.indexOf(name) !== names.lastIndexOf(name))
      return null
    taken.add(field)
    return field
  })
}
