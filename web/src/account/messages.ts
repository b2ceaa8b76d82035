import { counted, numberText } from '../ui/text/format.ts'

/** Shared by every form that takes an email address or a password. */
export const fields = {
  email: 'Email',
  password: 'Password',
  emailExample: 'you@example.com',
  enterEmail: 'Enter an email address, such as you@example.com.',
  enterPassword: 'Enter your password.',
  minLength: (characters: number) => `Use at least ${characters} characters.`,
  passwordHint: 'At least 10 characters. A few words that you can remember work best.',
} as const

export const account = {
  title: 'Account',
  email: 'Email',
  plan: 'Plan',
  role: 'Role',
  administrator: 'Administrator',
  storage: 'Storage',
  name: 'Name',
  password: 'Password',
  sessions: 'Sessions',
  theme: 'Theme',
  shortcuts: 'Keyboard shortcuts',
  yourData: 'Your data',
  shortcutsLabel: 'Single-key shortcuts',
  shortcutsHint:
    'g and a letter open a screen, j and k move through a list, ? shows all. Saved in this browser.',
  migrationsUsed: (used: number, limit: number | null) =>
    limit === null
      ? `${counted(used, 'migration')} this month (no limit)`
      : `${numberText(used)} of ${counted(limit, 'migration')} used this month`,
  signOut: 'Sign out',
} as const

export const profile = {
  name: 'Your name',
  saveName: 'Save name',
  nameSaved: 'Name saved.',
  currentPassword: 'Current password',
  newPassword: 'New password',
  enterCurrentPassword: 'Enter your current password.',
  changePassword: 'Change password',
  passwordChanged: 'Password changed. All your other sessions were signed out.',
} as const

export const passwordPrompt = {
  title: 'Confirm your password',
  explanation: 'You signed in a while ago. Enter your password to continue.',
  continue: 'Continue',
  cancel: 'Cancel',
  missing: 'Enter your password.',
} as const

export const sessions = {
  loading: 'Loading sessions…',
  unknownBrowser: 'Unknown browser',
  browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  current: (name: string) => `${name} (this browser)`,
  lastUsed: 'last used',
  end: 'End session',
  endTitle: 'End this session?',
  endAbout: (name: string) => `of ${name}`,
  endEffect: (name: string) => `${name} will have to sign in again.`,
  endOthers: 'End all other sessions',
  endOthersTitle: 'End all other sessions?',
  endOthersEffect: 'They will have to sign in again. API tokens keep working.',
} as const

export const storage = {
  loading: 'Loading storage…',
  names: {
    captures: 'Captured requests',
    reportFiles: 'Report files',
    sharedChecks: 'Shared checks',
  },
  progress: (name: string) => `${name}: storage used`,
  used: (used: string, limit: string) => `${used} of ${limit}`,
  whenFull: (effect: string) => `When full: ${effect}`,
  line: (used: string) => `Storage: ${used};`,
} as const

export const yourData = {
  exportText:
    'Everything stored for your account in one file: one JSON object per line, with the table it comes from. ' +
    'Passwords, tokens and other secrets aren’t included: only their hashes or encrypted values are stored.',
  export: 'Export my data',
  deleteSummary: 'Delete account',
  deleteWarning: 'This is permanent and can’t be undone.',
  deleteList: 'Your account is deleted together with:',
  afterDelete:
    'Export your data first if you want to keep it. Existing backups contain it until they expire.',
  lastAdministrator:
    'The last administrator can’t be deleted: make another user an administrator first.',
  delete: 'Delete my account',
  confirmEmail: 'Your email, to confirm',
  confirmPassword: 'Your password',
  enterEmail: (email: string) => `Enter ${email} to confirm.`,
  enterPassword: 'Enter your password.',
  items: {
    domains: {
      name: 'DMARC domain',
      detail: 'with all reports and statistics; new reports will be rejected',
    },
    hosts: { name: 'monitored host', detail: 'with all history and delistings' },
    migrations: {
      name: 'migration',
      detail: 'with its errors; mail that was already copied is kept',
    },
    endpoints: { name: 'webhook endpoint', detail: 'with all captured requests' },
    tokens: { name: 'API token', detail: 'so programs that use one lose access' },
  },
  item: (count: number | undefined, name: string, detail: string) =>
    `${count === undefined ? `Every ${name}` : counted(count, name)}, ${detail}.`,
  remaining: 'Your alerts, alert channels and sessions.',
} as const

export const tokens = {
  title: 'API tokens',
  lead: 'A token lets a program use Portreeve as you. It can do everything you can, except create tokens.',
  reportTokensBefore: 'Servers that report attacks use separate',
  reportTokensLink: 'report tokens',
  yours: 'Your tokens',
  name: 'Token name',
  namePlaceholder: 'monitoring',
  create: 'Create token',
  created: (name: string) => (name ? `Token “${name}” created` : 'Token created'),
  copyNow: 'Copy it now. You won’t be able to see it again.',
  theToken: 'the token',
  tryIt: 'Try it:',
  theCommand: 'the command',
  loading: 'Loading tokens…',
  empty: 'No tokens yet.',
  unnamed: 'Unnamed token',
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke “${name}”?`,
  revokeEffect: (lastFour: string) =>
    `Programs that use the token ending in \`${lastFour}\` lose access at once. This can’t be undone.`,
  masked: (lastFour: string) => `prv_…${lastFour}`,
  createdLabel: 'created',
  lastUsed: 'last used',
  neverUsed: 'never used',
} as const

export const setup = {
  title: 'Create your admin account',
  lead: 'You’ll be the administrator. You can add other users later.',
  name: 'Your name',
  nameHint: 'Optional.',
  submit: 'Create account',
  incompleteTitle: 'This setup link is incomplete',
  incomplete: 'Copy the whole link from your terminal, including everything after `#`.',
  doneTitle: 'Setup is complete',
  doneLead: 'The first account exists, so the setup link no longer works.',
  signIn: 'Sign in',
} as const

export const signIn = {
  title: 'Sign in',
  submit: 'Sign in',
  noAccountTitle: 'No account exists yet',
  noAccount: 'Open the setup link that the service printed when it started.',
  public: {
    before: 'Without an account, you can',
    address: 'look up an IP address',
    between: 'in the attack reports and see',
    network: 'network statistics',
  },
} as const

export const signUp = {
  confirmTitle: 'Confirm your account',
  explanation: 'This confirms your email address and creates your account.',
  submit: 'Create my account',
  readyTitle: 'Your account is ready',
  signIn: 'Sign in',
  readyRest: (email: string) => `as ${email} with the password you chose.`,
  incompleteTitle: 'This link is incomplete',
  incomplete: 'Copy the whole link from the email, starting with “http”.',
} as const
