import type { Role } from '../../http/access.ts'
import { presentChannel } from '../alert-view.ts'
import { insertFirstChannel, listChannels } from './alert-channels.sql.ts'
import type { SendDeps } from './channel-type.ts'

export type ChannelState = Pick<ReturnType<typeof presentChannel>, 'id' | 'status'> & {
  /** The address or URL that it sends to, or its short name. */
  target: string
}

/** Lists the channels of a workspace with their states, for a member of this role. */
export async function listChannelStates(
  deps: Pick<SendDeps, 'db' | 'relay' | 'secretKey'>,
  workspaceId: string,
  role: Role,
): Promise<ChannelState[]> {
  await insertFirstChannel(deps.db, workspaceId)
  const rows = await listChannels(deps.db, workspaceId)
  return rows.map((row) => {
    const { id, status, address, url, name } = presentChannel(row, deps, { role, waiting: 0 })
    return { id, status, target: address ?? url ?? name }
  })
}
