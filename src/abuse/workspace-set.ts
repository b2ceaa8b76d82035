import type { Logger } from '../log.ts'
import { createMirror } from '../store/mirror.ts'
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
  let workspaces = new Set<string>()
  const { close } = await createMirror({ notifications, log }, channel, async () => {
    workspaces = new Set(await list())
  })
  return { has: (workspaceId) => workspaces.has(workspaceId), close }
}
