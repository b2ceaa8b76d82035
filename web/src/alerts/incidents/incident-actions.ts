import { useQueryClient } from '@tanstack/react-query'
import type { RowAction } from '../../ui/lists/row-action.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { actWithUndo } from './act-with-undo.ts'
import { endMute, incidents, mutes, type Incident } from './api.ts'
import { done, incidents as messages } from './messages.ts'

const isOpen = ({ state }: Incident) => state === 'open'

/** Opens a dialog for several incidents. */
export type OpenDialog = (kind: 'snooze' | 'mute', rows: Incident[]) => void

/** What can be done with several incidents; each action offers Undo. */
export function useIncidentActions(openDialog: OpenDialog): RowAction<Incident>[] {
  const access = useAccess()
  const queries = useQueryClient()
  const act = (
    text: (rows: Incident[]) => string,
    send: (row: Incident) => Promise<() => Promise<unknown>>,
  ) => ({
    ...access,
    kind: 'quiet' as const,
    apply: (rows: Incident[]) =>
      void actWithUndo(queries, { rows, text: text(rows), nameOf: ({ title }) => title, send }),
  })
  return [
    {
      ...act(done.acknowledged, async ({ id }) => {
        await incidents.acknowledge(id)
        return () => incidents.unacknowledge(id)
      }),
      label: messages.acknowledge,
      appliesTo: (row) => isOpen(row) && row.acknowledgedAt === null,
    },
    {
      ...access,
      kind: 'quiet',
      label: messages.snooze,
      appliesTo: isOpen,
      apply: (rows) => openDialog('snooze', rows),
    },
    {
      ...access,
      kind: 'quiet',
      label: messages.mute,
      appliesTo: (row) => isOpen(row) && row.mute === null,
      apply: (rows) => openDialog('mute', rows),
    },
    {
      ...act(done.resumed, resume),
      label: messages.resume,
      appliesTo: (row) =>
        isOpen(row) &&
        (row.acknowledgedAt !== null || row.snoozedUntil !== null || row.mute !== null),
    },
  ]
}

/** Ends all that keeps alerts of an incident from being sent. */
async function resume({ id, mute: covering, snoozedUntil, acknowledgedAt }: Incident) {
  const reverts: (() => Promise<unknown>)[] = []
  // A mute may cover more than this incident.
  const muted = covering && (await mutes.list()).find((each) => each.id === covering.id)
  if (muted) reverts.push(await endMute(muted))
  if (acknowledgedAt !== null) {
    await incidents.unacknowledge(id)
    reverts.push(() => incidents.acknowledge(id))
  }
  if (snoozedUntil !== null) {
    const minutes = Math.max(15, Math.ceil((Date.parse(snoozedUntil) - Date.now()) / 60_000))
    await incidents.unsnooze(id)
    reverts.push(() => incidents.snooze(id, { minutes }))
  }
  return async () => {
    for (const revert of reverts) await revert()
  }
}
