import type { Logger } from '../log.ts'
import type { Notifications } from '../store/notifications.ts'

/** The workspaces that use a feature, in memory: most reports are of others. */
export type WorkspaceSet = { has(workspaceId: string): boolean; close(): void }

/**
 * @param channel the notification that other workspaces use the feature now
 * @param list reads the workspaces that use it
 */
export async function createWorkspaceSet({
  notifications,
  log,
  channel,
  list,
}: {
  notifications: Notifications
  log: Logger
  channel: string
  list: () => Promise<string[]>
}): Promise<WorkspaceSet> {
  let workspaces = new Set(await list())
  let loading: Promise<void> = Promise.resolve()
  function reload(): void {
    loading = loading
      .then(async () => void (workspaces = new Set(await list())))
      .catch((err: unknown) => log.warn({ err, channel }, 'workspaces could not be reloaded'))
  }
  const stops = [notifications.on(channel, reload), notifications.onReconnect(reload)]
  return {
    has: (workspaceId) => workspaces.has(workspaceId),
    close: () => stops.forEach((stop) => stop()),
  }
}
