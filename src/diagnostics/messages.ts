/** Sentences of verdicts, in the dashboard and on the command line alike. */

/** `1,234`. Few numbers need the format, and creating it takes a phone 20 ms. */
const numberText = (count: number) =>
  count < 1_000 ? String(count) : count.toLocaleString('en-GB')

const counted = (count: number, word: string) =>
  `${numberText(count)} ${count === 1 ? word : `${word}s`}`

const nameNotFound = (name: string) => `${name} doesn’t exist (NXDOMAIN).`
const issues = (count: number) => counted(count, 'issue')

export const dns = {
  nameNotFound,
  failed: (types: string[]) =>
    `${types.length === 1 ? '1 query' : `${types.length} queries`} failed: ${types.join(', ')}. Check again later.`,
  withIssues: (count: number) => `The name resolves, with ${issues(count)}.`,
  good: 'The name resolves. No issues found.',
} as const

export const mailAuth = {
  nameNotFound,
  unknownDmarc: (error: string) =>
    `The DMARC record could not be looked up (${error}). Check again later.`,
  noDmarc: 'No DMARC record: receivers don’t know how to treat spoofed mail.',
  policies: {
    reject: 'Enforced: receivers reject spoofed mail.',
    quarantine: 'Enforced: receivers treat spoofed mail as suspicious.',
    none: 'Not enforced: the policy “none” only monitors. Spoofed mail is still delivered.',
  },
  errors: (count: number) => `${counted(count, 'error')} ${count === 1 ? 'needs' : 'need'} fixing.`,
} as const

export const certificate = {
  expired: 'The certificate has expired. Renew it.',
  issuerExpired: 'A certificate of the chain has expired. Install the current chain.',
  wrongHost: 'The certificate is for another host.',
  untrusted: 'The certificate isn’t trusted.',
  trusted: (daysLeft: number) =>
    `The certificate is trusted and valid for another ${counted(daysLeft, 'day')}.`,
  issuesFound: (count: number) => `${issues(count)} found.`,
} as const

export const blocklists = {
  listed: (ip: string, listed: number, total: number) =>
    `${ip} is on ${listed} of ${counted(total, 'blocklist')}.`,
  clean: (ip: string, checked: number) => `${ip} is on none of ${counted(checked, 'blocklist')}.`,
  unchecked: (count: number, critical: number) =>
    `${numberText(count)} couldn’t be checked${critical > 0 ? `, ${critical} of them critical` : ''}.`,
  unknown: (ip: string, unknown: number, total: number) =>
    `Couldn’t check ${ip}: ${numberText(unknown)} of ${counted(total, 'blocklist')} gave no usable answer. Your DNS resolver is probably the cause.`,
} as const
