import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { Db } from '../../store/database.ts'
import {
  describeDestinationFailing,
  describeDestinationOff,
  describeDestinationRecovered,
  describeQueueFull,
  describeQueueRoom,
} from '../messages.ts'
import type { DestinationRow, QueueChange } from './destinations.sql.ts'

type Alerted = Pick<DestinationRow, 'id' | 'endpointId' | 'workspaceId' | 'label' | 'target'>

const nameOf = ({ label, target }: Alerted) => label || new URL(target).host
export const failingIncident = (id: string) => `webhook/destination/${id}`
export const queueIncident = (id: string) => `webhook/queue/${id}`

function alertOf(destination: Alerted, kind: string) {
  const at = new Date()
  const { id, endpointId, workspaceId } = destination
  const path = `/hooks/${endpointId}/destinations`
  return { workspaceId, kind, key: `${kind} ${id} ${at.toISOString()}`, path, at }
}

export async function alertFailing(
  db: Db,
  destination: Alerted,
  since: Date,
  error: string,
): Promise<void> {
  await raiseAlert(db, {
    ...alertOf(destination, 'webhook.destination-failing'),
    incident: failingIncident(destination.id),
    phase: 'open',
    severity: 'error',
    ...describeDestinationFailing(nameOf(destination), since, error),
  })
}

export async function alertOff(db: Db, destination: Alerted, reason: string): Promise<void> {
  await raiseAlert(db, {
    ...alertOf(destination, 'webhook.destination-off'),
    incident: failingIncident(destination.id),
    phase: 'open',
    severity: 'critical',
    ...describeDestinationOff(nameOf(destination), reason),
  })
}

export async function alertRecovered(db: Db, destination: Alerted, since: Date): Promise<void> {
  await raiseResolved(db, {
    ...alertOf(destination, 'webhook.destination-recovered'),
    incident: failingIncident(destination.id),
    ...describeDestinationRecovered(nameOf(destination), since),
  })
}

/** A full queue is one alert, however many deliveries are dropped. */
export async function alertQueueChange(db: Db, change: QueueChange): Promise<void> {
  const incident = queueIncident(change.id)
  if (change.accepting)
    await raiseResolved(db, {
      ...alertOf(change, 'webhook.deliveries-queued'),
      incident,
      ...describeQueueRoom(nameOf(change)),
    })
  else
    await raiseAlert(db, {
      ...alertOf(change, 'webhook.deliveries-dropped'),
      incident,
      phase: 'open',
      severity: 'error',
      ...describeQueueFull(nameOf(change)),
    })
}
