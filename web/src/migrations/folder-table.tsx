import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { durationText, numberText, sizeText } from '../ui/text/format.ts'
import type { Migration } from './api.ts'
import { useRates, type Rate } from './use-rates.ts'

type FolderProgress = Migration['progress']['folderProgress'][string]

/** How far each folder is, how fast it goes, and where it goes to. */
export function FolderTable({ migration }: { migration: Migration }) {
  const { progress, folders, status } = migration
  const isRunning = status === 'running'
  const rates = useRates(progress.folderProgress, isRunning)
  return (
    <Table caption="Folders" quiet columns={['Folder', 'Messages', 'Progress', 'Size', ...(isRunning ? ['Rate'] : [])]}>
      {folders.map((path) => (
        <FolderRow
          key={path}
          path={path}
          progress={progress.folderProgress[path]}
          rate={rates[path]}
          isRunning={isRunning}
          isCurrent={progress.currentFolder === path}
        />
      ))}
    </Table>
  )
}

type FolderRowProps = {
  path: string
  progress: FolderProgress | undefined
  rate: Rate | undefined
  isRunning: boolean
  isCurrent: boolean
}

function FolderRow({ path, progress, rate, isRunning, isCurrent }: FolderRowProps) {
  const { doneCount = 0, total = 0, bytes = 0, bytesTotal = null, destination = '' } = progress ?? {}
  const isDone = progress !== undefined && doneCount >= total
  return (
    <tr>
      <th scope="row">
        {path}
        {destination && destination !== path && <small>to {destination}</small>}
      </th>
      <td>
        {numberText(doneCount)} of {numberText(total)}
      </td>
      <td>
        <ProgressBar
          label={`Progress of ${path}`}
          done={isDone ? 1 : doneCount}
          total={isDone ? 1 : total}
          tone={isDone ? 'good' : undefined}
        />
      </td>
      <td>
        <Muted>
          {sizeText(bytes)}
          {bytesTotal !== null && bytesTotal > bytes && ` of ${sizeText(bytesTotal)}`}
        </Muted>
      </td>
      {isRunning && (
        <td>
          <Muted>{isDone ? '' : rate ? rateText(rate, total - doneCount) : isCurrent && 'under way'}</Muted>
        </td>
      )}
    </tr>
  )
}

function rateText({ perSecond }: Rate, left: number): string {
  return `${numberText(Math.max(1, Math.round(perSecond)))}/s, ${durationText(left / perSecond)} left`
}
