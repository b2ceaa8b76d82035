import type { Db } from '../../store/database.ts'
import type { SendDeps } from '../channels/channel-type.ts'
import { channelNameOf } from '../channels/channel-name.ts'
import { insertFirstChannel, listChannels } from '../channels/alert-channels.sql.ts'
import { channelStatusOf } from '../alert-view.ts'
import { describePreview, describeRule, ruleProblems } from './messages.ts'
import { usableChannels, type Preview, type PreviewChannel } from './preview/preview.ts'
import type { RuleRow, RuleSettings } from './rule.ts'

/** The channels of a workspace as rules and previews name them. */
export async function listNamedChannels(
  deps: Pick<SendDeps, 'relay'> & { db: Db },
  workspaceId: string,
): Promise<PreviewChannel[]> {
  await insertFirstChannel(deps.db, workspaceId)
  const rows = await listChannels(deps.db, workspaceId)
  return rows.map((row) => {
    const { id, kinds, minSeverity, quietHours, criticalAnytime } = row
    const isUsable = row.confirmedAt !== null && row.disabledReason === null
    return {
      id,
      name: channelNameOf(row),
      status: channelStatusOf(row, deps),
      isUsable,
      kinds,
      minSeverity,
      quietHours,
      criticalAnytime,
    }
  })
}

export function presentRule(rule: RuleRow, channels: PreviewChannel[]) {
  const usable = usableChannels(channels)
  const isSkipped = rule.enabled && !rule.channels.some((id) => usable.has(id))
  return {
    ...rule,
    sentence: sentenceOf(rule, channels),
    problem: isSkipped ? ruleProblems.noChannel : null,
  }
}

export function presentPreview<T extends RuleSettings & { id: string | null }>(
  { rule, ...preview }: Preview<T>,
  channels: PreviewChannel[],
) {
  return {
    ...preview,
    sentence: describePreview({ ruleName: rule && rule.name, hasRule: rule !== null, ...preview }),
    rule: rule && { id: rule.id, name: rule.name, sentence: sentenceOf(rule, channels) },
  }
}

function sentenceOf(rule: RuleSettings, channels: PreviewChannel[]): string {
  const names = new Map(channels.map(({ id, name }) => [id, name]))
  return describeRule(rule, (id) => names.get(id) ?? null)
}
