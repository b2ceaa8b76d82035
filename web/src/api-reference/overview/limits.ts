import { numberText } from '../../ui/text/format.ts'

/** A limit of requests. docs/limits.md and docs/attack-reporting.md have the same, and a test
 * compares them. */
export type Limit = {
  name: string
  /** Absent where only concurrent requests are limited. */
  requests?: number
  /** Completes the number of requests: `an hour`. */
  per?: string
  /** Absent where requests that run at once are not limited. */
  atOnce?: number
  /** Ids of the operations that count against it. */
  operations: string[]
}

export const ACCOUNT_LIMITS: Limit[] = [
  {
    name: 'mail tests',
    requests: 50,
    per: 'a day',
    atOnce: 2,
    operations: ['createMailTest', 'createMailTestRaw'],
  },
  {
    name: 'test alerts and test events',
    requests: 300,
    per: 'an hour',
    atOnce: 5,
    operations: ['testNewAlertChannel', 'testAlertChannel', 'testWebhookEndpointDestination'],
  },
  { name: 'mail test streams', atOnce: 20, operations: ['followMailTest'] },
  {
    name: 'checks',
    requests: 3_000,
    per: 'an hour',
    atOnce: 10,
    operations: [
      'getDnsCheck',
      'getSslCheck',
      'getBlacklistCheck',
      'followBlacklistCheck',
      'getDmarcCheck',
    ],
  },
  {
    name: 'domain checks',
    requests: 300,
    per: 'an hour',
    atOnce: 3,
    operations: ['getDomain', 'followDomain', 'watchDomain'],
  },
  {
    name: 'record lookups',
    requests: 3_600,
    per: 'an hour',
    atOnce: 10,
    operations: ['getDomainRecord'],
  },
  {
    name: 'IMAP connection requests',
    requests: 600,
    per: 'an hour',
    atOnce: 5,
    operations: [
      'testImapConnection',
      'listImapFolders',
      'createMigration',
      'retryMigration',
      'createDmarcMailbox',
    ],
  },
  {
    name: 'searches',
    requests: 1_800,
    per: 'an hour',
    atOnce: 2,
    operations: ['listWebhookEndpointRequests', 'listAuditEntries'],
  },
  {
    name: 'HAR exports',
    requests: 300,
    per: 'an hour',
    atOnce: 2,
    operations: ['listWebhookEndpointRequests'],
  },
  {
    name: 'digest previews and tests',
    requests: 120,
    per: 'an hour',
    atOnce: 3,
    operations: ['getDigestPreview', 'testDigest'],
  },
  {
    name: 'account exports',
    requests: 6,
    per: 'an hour',
    atOnce: 1,
    operations: ['exportAccount'],
  },
  {
    name: 'shared checks',
    requests: 600,
    per: 'an hour',
    atOnce: 5,
    operations: ['createSharedCheck'],
  },
  {
    name: 'reports of batches',
    requests: 300,
    per: 'an hour',
    atOnce: 2,
    operations: ['downloadBatchReport'],
  },
  {
    name: 'proof files',
    requests: 600,
    per: 'an hour',
    atOnce: 2,
    operations: ['downloadMigrationProof', 'downloadMigrationBatchProof'],
  },
  {
    name: 'imports',
    requests: 120,
    per: 'an hour',
    atOnce: 2,
    operations: ['importHosts', 'importDomains', 'importDmarcDomains'],
  },
  {
    name: 'report uploads',
    requests: 6_000,
    per: 'an hour',
    atOnce: 5,
    operations: ['uploadDmarcReports'],
  },
  {
    name: 'verifications and checks on demand',
    requests: 600,
    per: 'an hour',
    atOnce: 10,
    operations: ['verifyDmarcDomain', 'fetchDmarcMailbox', 'checkMonitoringHost'],
  },
  { name: 'overviews', requests: 600, per: 'an hour', atOnce: 5, operations: ['getOverview'] },
  {
    name: 'requests for problems',
    requests: 3_600,
    per: 'an hour',
    atOnce: 5,
    operations: ['listProblems'],
  },
  {
    name: 'overviews of addresses',
    requests: 3_600,
    per: 'an hour',
    atOnce: 5,
    operations: ['getAddress'],
  },
  { name: 'change streams', atOnce: 20, operations: ['followChanges'] },
  { name: 'webhook streams', atOnce: 20, operations: ['followWebhookEndpoint'] },
  { name: 'migration streams', atOnce: 20, operations: ['followMigration'] },
]

export const ADDRESS_LIMITS: Limit[] = [
  {
    name: 'address lookups',
    requests: 1_200,
    per: 'a minute',
    atOnce: 20,
    operations: ['getAbuseCheck'],
  },
  {
    name: 'fleet list requests',
    requests: 3_000,
    per: 'a minute',
    atOnce: 5_000,
    operations: [
      'getFleetList',
      'followFleetList',
      'streamCrowdSecDecisions',
      'listCrowdSecDecisions',
      'sendCrowdSecMetrics',
    ],
  },
  {
    name: 'federation requests',
    requests: 600,
    per: 'a minute',
    atOnce: 10,
    operations: ['readFederationEvidence'],
  },
  {
    name: 'requests to exchange evidence',
    requests: 120,
    per: 'an hour',
    atOnce: 3,
    operations: ['followInstallation'],
  },
  {
    name: 'list downloads',
    requests: 600,
    per: 'an hour',
    atOnce: 10,
    operations: ['exportAbuseList'],
  },
  {
    name: 'public page requests',
    requests: 600,
    per: 'a minute',
    atOnce: 20,
    operations: [
      'getFederationIdentity',
      'getAbuseStats',
      'getAbuseToken',
      'getAbuseFail2banConfig',
      'getAbuseFail2banInstall',
      'getSharedCheck',
    ],
  },
  {
    name: 'attack reports',
    requests: 120,
    per: 'in 5 minutes',
    operations: ['reportAttacker', 'reportAttackers'],
  },
  { name: 'appeals', requests: 60, per: 'an hour', atOnce: 3, operations: ['createAbuseAppeal'] },
  {
    name: 'sign-in attempts',
    requests: 120,
    per: 'an hour',
    atOnce: 5,
    operations: ['passkeyOptions', 'passkeySignIn'],
  },
  {
    name: 'password resets',
    requests: 30,
    per: 'an hour',
    atOnce: 3,
    operations: ['requestPasswordReset', 'resetPassword'],
  },
  {
    name: 'invitation previews',
    requests: 120,
    per: 'an hour',
    atOnce: 3,
    operations: ['previewInvitation'],
  },
  { name: 'setup attempts', requests: 30, per: 'an hour', atOnce: 3, operations: ['setUp'] },
]

/** `3,000 an hour`, or undefined where only concurrent requests are limited. */
export function rateText({ requests, per }: Limit): string | undefined {
  return requests === undefined ? undefined : `${numberText(requests)} ${per}`
}

/** The limits of one operation, those of the account first. */
export function limitsOf(operationId: string): { limit: Limit; subject: 'account' | 'address' }[] {
  const of = (limits: Limit[], subject: 'account' | 'address') =>
    limits
      .filter(({ operations }) => operations.includes(operationId))
      .map((limit) => ({ limit, subject }))
  return [...of(ACCOUNT_LIMITS, 'account'), ...of(ADDRESS_LIMITS, 'address')]
}
