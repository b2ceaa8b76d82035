import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'

type Credential = { workspaceId: string; credentialId: string }

/**
 * Composes the alert about an administrator’s sign-in that a provider rejects. It is raised once for
 * all mailboxes that wait for it.
 */
export function rejectedAlert(
  { workspaceId, credentialId, account }: Credential & { account: string },
  problem: string,
): NewAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'migration.failed',
    key: `mail-credential.rejected ${credentialId} ${at.getTime()}`,
    incident: incidentOf(credentialId),
    phase: 'open',
    severity: 'error',
    title: `The sign-in of ${account} no longer opens mailboxes`,
    text: problem,
    nextStep: 'Correct it. What waits for this sign-in then continues by itself.',
    path: '/migrations/sign-ins',
    objects: [account],
    at,
  }
}

/** Composes the alert about an administrator’s sign-in that the provider accepts again. */
export function correctedAlert({ workspaceId, credentialId }: Credential): ResolvingAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'migration.completed',
    key: `mail-credential.accepted ${credentialId} ${at.getTime()}`,
    incident: incidentOf(credentialId),
    title: 'Resolved: the sign-in opens mailboxes again',
    text: 'What waited for it continues.',
    nextStep: '',
    path: '/migrations/sign-ins',
    at,
  }
}

type Provider = { id: string; name: string }

/** Composes the alert about a provider that rejects the client of this service. */
export function clientRejectedAlert(
  workspaceId: string,
  { provider, problem, since }: { provider: Provider; problem: string; since: Date },
): NewAlert {
  return {
    workspaceId,
    kind: 'migration.failed',
    // Once for all mailboxes of this client.
    key: `mail-client.rejected ${provider.id} ${since.getTime()}`,
    incident: clientIncidentOf(provider),
    phase: 'open',
    severity: 'error',
    title: `${provider.name} rejects this service: mailboxes wait`,
    text: problem,
    nextStep: 'An administrator of this service must correct it. Mailboxes then continue.',
    path: '/migrations',
    objects: [provider.name],
    at: new Date(),
  }
}

/** Composes the alert about a provider that accepts the client of this service again. */
export function clientAcceptedAlert(workspaceId: string, provider: Provider): ResolvingAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'migration.completed',
    key: `mail-client.accepted ${provider.id} ${at.getTime()}`,
    incident: clientIncidentOf(provider),
    title: `Resolved: ${provider.name} accepts this service again`,
    text: 'Mailboxes that waited continue.',
    nextStep: '',
    path: '/migrations',
    at,
  }
}

const clientIncidentOf = ({ id }: Provider) => `mail-client/${id}`
const incidentOf = (credentialId: string) => `mail-credential/${credentialId}`
