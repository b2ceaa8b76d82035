import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import type { Finished, SeedRow } from './canary.sql.ts'
import type { Outcome } from './placement-outcome.ts'

export type Subject = {
  workspaceId: string
  domain: string
  seed: Pick<SeedRow, 'id' | 'email'>
  since: Date
  /** The result that decided. */
  finished: Finished
}

const PLACES: Record<Outcome, string> = {
  inbox: 'It arrived in the inbox.',
  category: 'It arrived in another folder than the inbox.',
  junk: 'It landed in the junk folder.',
  late: 'It arrived late.',
  missing: 'It didn’t arrive within an hour.',
  refused: 'The server refused it.',
  unknown: 'Nothing is known of it.',
}

const describe = ({ finished: { outcome, detail } }: Subject) =>
  [`The latest canary mail: ${PLACES[outcome]}`, detail].filter(Boolean).join(' ')

function alertOf({ workspaceId, domain, seed, since }: Subject, word: string) {
  return {
    workspaceId,
    key: `canary ${seed.id} ${word} ${since.toISOString()}`,
    path: `/domains/${domain}/deliverability`,
    objects: [domain],
    at: since,
  }
}

const placementOf = ({ seed }: Subject) => `placement/${seed.id}`
const blindnessOf = ({ seed }: Subject) => `canary-blind/${seed.id}`

/** The alert about a seed at which mails do not reach the inbox. */
export function placementAlert(subject: Subject): NewAlert {
  const { domain, seed } = subject
  return {
    ...alertOf(subject, 'bad'),
    kind: 'deliverability.placement',
    incident: placementOf(subject),
    phase: 'open',
    severity: 'error',
    title: `Mail from ${domain} doesn’t reach the inbox of ${seed.email}`,
    text: describe(subject),
    nextStep:
      'Send a mail test to see what receivers object to, and check the blocklists and complaints of the domain.',
  }
}

export function recoveredAlert(subject: Subject): ResolvingAlert {
  const { domain, seed } = subject
  return {
    ...alertOf(subject, 'good'),
    kind: 'deliverability.placement-recovered',
    incident: placementOf(subject),
    title: `Resolved: mail from ${domain} reaches the inbox of ${seed.email} again`,
    text: 'The last three canary mails arrived.',
    nextStep: '',
  }
}

/** The alert about a seed of which nothing is known: mails are not sent, or it cannot be read. */
export function blindAlert(subject: Subject): NewAlert {
  const { domain, seed } = subject
  return {
    ...alertOf(subject, 'blind'),
    kind: 'deliverability.canary-blind',
    incident: blindnessOf(subject),
    phase: 'open',
    severity: 'warning',
    title: `The canary of ${domain} can’t check ${seed.email}`,
    text: describe(subject),
    nextStep: 'Open the domain, and correct the sign-in that the canary names.',
  }
}

export function seenAlert(subject: Subject): ResolvingAlert {
  const { domain, seed } = subject
  return {
    ...alertOf(subject, 'seen'),
    kind: 'deliverability.canary-working',
    incident: blindnessOf(subject),
    title: `Resolved: the canary of ${domain} can check ${seed.email} again`,
    text: describe(subject),
    nextStep: '',
  }
}
