import type { Transaction } from 'kysely'
import { listAdministratorWorkspaces } from '../../accounts/workspaces/workspaces.sql.ts'
import { raiseAlert, type NewAlert } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import { nameOf } from '../../abuse/peer-evidence/peer-names.ts'
import type { Refusal } from './peers/peer-status.ts'
import type { PeerRow } from './peers/peers.sql.ts'

type Event =
  | { kind: 'refused'; refusal: Refusal; detail: string }
  | { kind: 'key_changed' }
  | { kind: 'ended' }

const REFUSAL_REASONS: Record<Refusal, string> = {
  flood: 'It sent more evidence than a peer may send in a day.',
  malformed: 'It sent evidence that is not valid.',
  bad_signature: 'A response had a wrong signature.',
  future: 'It sent evidence that is dated in the future.',
}

/** Alerts the administrators about what happened to a peering. */
export async function alertAboutPeer(
  trx: Transaction<DB>,
  peer: PeerRow,
  event: Event,
  now: number,
): Promise<void> {
  for (const workspaceId of await listAdministratorWorkspaces(trx))
    await raiseAlert(trx, alertOf(workspaceId, peer, event, new Date(now)))
}

function alertOf(workspaceId: string, peer: PeerRow, event: Event, at: Date): NewAlert {
  return {
    workspaceId,
    kind: `federation.${event.kind}`,
    key: `federation.${event.kind} ${peer.id} ${at.toISOString()}`,
    incident: null,
    phase: 'once',
    severity: event.kind === 'ended' ? 'warning' : 'error',
    ...textOf(nameOf(peer.url), event),
    path: '/attacks/federation',
    objects: [nameOf(peer.url)],
    at,
  }
}

function textOf(name: string, event: Event): Pick<NewAlert, 'title' | 'text' | 'nextStep'> {
  if (event.kind === 'ended')
    return {
      title: `${name} ended the federation`,
      text: `Evidence from ${name} is deleted and no longer counts.`,
      nextStep: '',
    }
  if (event.kind === 'key_changed')
    return {
      title: `The key of ${name} has changed`,
      text: `No evidence is exchanged with ${name} until you approve the new key.`,
      nextStep: 'Compare the new fingerprint with the administrator of the peer, then approve it.',
    }
  return {
    title: `Evidence from ${name} is refused`,
    text: `${REFUSAL_REASONS[event.refusal]} ${event.detail}`,
    nextStep: 'Ask the administrator of the peer, then approve it again or end the federation.',
  }
}
