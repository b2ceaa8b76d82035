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
  loading: 'Loading your account…',
  email: 'Email',
  plan: 'Plan',
  role: 'Role',
  administrator: 'Administrator',
  storage: 'Storage',
  name: 'Name',
  password: 'Password',
  emailSection: 'Email address',
  authenticator: 'Two-factor authentication',
  passkeys: 'Passkeys',
  singleSignOn: 'Single sign-on',
  secondFactorTitle: 'Set up a second factor to continue',
  secondFactorNeeded:
    'This service requires one. Set up an authenticator app or a passkey below. If you already have one, sign out and sign in with it.',
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
  title: 'Confirm that it’s you',
  explanation: 'You signed in a while ago. Confirm to continue.',
  continue: 'Continue',
  cancel: 'Cancel',
  missing: 'Enter your password.',
  usePasskey: 'Use a passkey',
  useOidc: (provider: string) => `Sign in again with ${provider}`,
} as const

export const signInPrompt = {
  loading: 'Loading the ways to sign in…',
  title: 'Sign in again',
  explanation: 'Your session has expired. This page and your input stay as they are.',
  cancel: 'Not now',
  stillSignedOut: 'No session yet. Finish the sign-in first.',
} as const

export const signedIn = {
  title: 'You’re signed in',
  text: 'Close this tab and continue in the other one.',
  home: 'Go to the overview',
} as const

export const emailChange = {
  newEmail: 'New email address',
  start: 'Send codes',
  sent: (email: string) =>
    `We sent a code to your present address and one to ${email}. Enter both within 30 minutes.`,
  oldCode: 'Code from your present address',
  newCode: 'Code from your new address',
  enterCode: 'Enter the eight digits.',
  confirm: 'Change email address',
  cancel: 'Cancel',
  changed: 'Email address changed. Sign in with the new one from now on.',
} as const

export const authenticator = {
  off: 'Off. Anyone who knows your password can sign in.',
  on: 'On. Signing in with your password also needs a code from your authenticator app.',
  setUp: 'Set up authenticator app',
  scan: '1. Scan this code with an authenticator app, or enter the key by hand',
  confirm: '2. Enter the code that the app shows',
  saveCodes: '3. Save your backup codes',
  saved: 'I saved them',
  qrCode: 'QR code for your authenticator app',
  key: 'the key',
  code: 'Code from the app',
  enterCode: 'Enter the six digits of the app.',
  verify: 'Turn on',
  cancel: 'Cancel',
  codesTitle: 'Shown only once',
  codes: 'Each code signs you in once if you lose your phone. Keep them somewhere safe.',
  theCodes: 'the backup codes',
  turnOff: 'Turn off',
  turnOffTitle: 'Turn off two-factor authentication?',
  turnOffEffect: 'Signing in will need only your password. Your backup codes stop working.',
  replaceCodes: 'Replace backup codes',
} as const

export const passkeys = {
  lead: 'A passkey signs you in with your fingerprint, face, PIN or security key, without a password.',
  unsupported: 'Passkeys need https and a host name. This service has neither at its address.',
  empty: 'No passkeys yet.',
  loading: 'Loading passkeys…',
  name: 'Passkey name',
  namePlaceholder: 'Laptop',
  enterName: 'Enter a name, such as the device.',
  add: 'Add passkey',
  added: 'Passkey added.',
  createdLabel: 'created',
  lastUsed: 'last used',
  neverUsed: 'never used',
  synced: 'synced',
  remove: 'Remove',
  removeTitle: (name: string) => `Remove “${name}”?`,
  removeEffect: 'It will no longer sign you in. Remove it from your device, too.',
  failed: 'The passkey was not created. Try again.',
  unavailable: 'Passkeys couldn’t be loaded. Portreeve may have been updated: reload the page.',
  notUsed: 'No passkey was used. Try again, or use another way to sign in.',
} as const

export const singleSignOn = {
  linked: (provider: string) => `Linked. You can sign in with ${provider}.`,
  notLinked: (provider: string) => `Not linked. Link ${provider} to sign in with it.`,
  link: (provider: string) => `Link ${provider}`,
  unlink: 'Unlink',
  unlinkTitle: (provider: string) => `Unlink ${provider}?`,
  unlinkEffect: (provider: string) => `You will no longer be able to sign in with ${provider}.`,
} as const

export const forgotPassword = {
  title: 'Reset your password',
  submit: 'Send link',
  sentTitle: 'Check your email',
  sent: (email: string) =>
    `If ${email} has an account, we sent it a link to set a new password. It works once, within 30 minutes.`,
  noMail:
    'This service doesn’t send email. Ask its administrator for a link to reset your password.',
  back: 'Back to sign-in',
} as const

export const resetPassword = {
  title: 'Set a new password',
  newPassword: 'New password',
  submit: 'Set password',
  effect: 'This signs you out everywhere.',
  doneTitle: 'Your password is set',
  signIn: 'Sign in',
  incompleteTitle: 'This link is incomplete',
  incomplete: 'Copy the whole link, including everything after `#`.',
} as const

export const sessions = {
  loading: 'Loading sessions…',
  unknownBrowser: 'Unknown browser',
  browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  current: (name: string) => `${name} (this browser)`,
  lastUsed: 'last used',
  inUse: 'in use now',
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

export const demoEntry = {
  lead: 'Example data of a small company. Its dates are relative to today, and no other host is contacted.',
  enter: 'Open the demo',
} as const

export const signIn = {
  title: 'Sign in',
  submit: 'Sign in',
  forgot: 'Forgot your password?',
  or: 'or',
  withPasskey: 'Sign in with a passkey',
  withOidc: (provider: string) => `Continue with ${provider}`,
  codeTitle: 'Enter your code',
  codeLead: 'Open your authenticator app and enter the six digits.',
  code: 'Code',
  enterCode: 'Enter the code.',
  trust: 'Don’t ask again in this browser for 30 days',
  verify: 'Continue',
  useBackupCode: 'Use a backup code',
  useApp: 'Use the authenticator app',
  backupLead: 'Enter one of the backup codes you saved. Each works once.',
  backupCode: 'Backup code',
  startAgain: 'Start again',
  failedTitle: 'Single sign-on failed',
  failures: {
    expired: 'The sign-in took too long, or was opened twice. Try again.',
    provider: 'The provider refused the sign-in. Try again, or ask its administrator.',
    provider_unreachable:
      'The provider can’t be reached. Try again later, or ask the administrator of this service to check OIDC_ISSUER.',
    issuer_differs:
      'The provider calls itself by another address. Ask the administrator of this service to set OIDC_ISSUER to that; the log names it.',
    group_not_allowed:
      'Your groups don’t include one that may sign in here. Ask the administrator of this service.',
    email_missing:
      'The provider sent no email address. Ask its administrator to release the claim “email”.',
    email_unverified:
      'The provider hasn’t verified your email address. Verify it there, or ask the administrator of this service to set OIDC_TRUST_EMAIL.',
    account_exists:
      'An account with your email address exists. Sign in as you did before, then link single sign-on under Account.',
    account_disabled: 'This account is disabled. Ask the administrator of this service.',
    sign_up_closed: 'You don’t have an account here yet. Ask the administrator of this service.',
    setup_needed: 'Create the first account with the setup link first.',
    linked_elsewhere: 'This identity is linked to another account here.',
    not_signed_in: 'You were signed out meanwhile. Sign in and link single sign-on again.',
  } as Record<string, string>,
  providerSaid: (text: string) => `The provider said: ${text}.`,
  noAccountTitle: 'No account exists yet',
  noAccount: 'Open the setup link that the service printed when it started.',
  public: {
    before: 'Without an account, you can',
    address: 'look up an IP address',
    between: 'in the attack reports and see',
    network: 'network statistics',
  },
} as const

export const signUpForm = {
  name: 'Your name',
  submit: 'Create account',
  sent: (email: string) =>
    `Check the inbox of ${email}: open the link in our email, and then the invitation again.`,
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
