import type { MailboxProof } from '../../src/migration/proof/proof-document.ts'

const ANSWER = `'{"status": "listed", "at": "2026-01-01T00:00:00.000Z", "codes": [], "meanings": [], "reason": null,
  "detail": null, "health": "healthy"}'`

const CHANGES = `'{"copied": 1, "flags": 0, "moved": 0, "deleted": 0, "applied": 0}'`

const SUM = { messages: 1, bytes: 1, digest: '00' }
const ACCOUNT = { host: 'imap.example.com', port: 993, user: 'alice', signIn: 'password' }
const PROOF: MailboxProof = {
  format: 'portreeve-proof/1',
  kind: 'mailbox',
  madeBy: 'Portreeve',
  migration: {
    id: '00000000-0000-0000-0000-000000000000',
    batch: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    lastPassAt: null,
    passes: 1,
  },
  source: ACCOUNT,
  destination: ACCOUNT,
  level: 'full',
  readFrom: '2026-01-01T00:00:00.000Z',
  readUntil: '2026-01-01T00:00:00.000Z',
  folders: [],
  leftOut: [],
  changes: [],
  missing: [],
  additional: [],
  missingMessages: [],
  notes: [],
  totals: { source: SUM, kept: SUM, additional: SUM, elsewhere: 0, missing: 0 },
  verdict: 'identical',
}

/** Gives the rows of `fillEveryTable` values that the routes can return, where no constraint requires them. */
export const PRESENTABLE = [
  `update fleet set rules = null`,
  `update fleet_ban set expires_at = now() + interval '1 day'`,
  `update fleet_change set cause = '{"by": "time"}'`,
  `update fleet_bouncer set metrics = null`,
  `update delisting_step set category = 'major', first_answer = ${ANSWER}, last_answer = ${ANSWER}`,
  `update delisting_process set reverse_dns = null`,
  `update dmarc_set_aside set via = 'upload'`,
  `update migration set options = options || '{"allMailOnce": false}', progress = progress ||
     '{"notes": [], "warnings": [], "bytesTotal": null, "bytesPerSecond": 0, "folderProgress": {}}',
     throughput = '{"startedAt": 0, "stepSeconds": 1, "points": [[0, 1, 2, 0, 1]]}'`,
  `update migration_batch set options = '{"specialUse": true, "deduplicate": false, "allMailOnce": false,
     "destPrefix": "", "folderMap": {}}'`,
  `update migration_sync set last_changes = ${CHANGES}`,
  `update migration_pass set changes = ${CHANGES}`,
  `update migration_proof set document = '${JSON.stringify(PROOF)}'`,
  `update migration_cutover set dns = null`,
  `update batch_mailbox set state = 'done', migration_id = (select id from migration limit 1)`,
  `update mail_test_mail set findings = '[]', engines = '[]', background = '[]', connection = null, transcript = null`,
  `update mail_credential set provider = 'google'`,
  `update monitored_event set kind = 'blacklist'`,
  `update alert_rule set quiet_hours = null, escalation = null`,
]
