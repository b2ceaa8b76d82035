import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { numberText, sizeText } from '../ui/text/format.ts'
import type { Migration } from './api.ts'
import { folderTable as messages, migration as titles } from './messages.ts'
import { useRates, type FolderRate } from './use-rates.ts'

type FolderProgress = Migration['progress']['folderProgress'][string]

/** Progress, rate and destination of each folder. */
export function FolderTable({ migration }: { migration: Migration }) {
  const { progress, folders, status } = migration
  const isRunning = status === 'running'
  const rates = useRates(progress.folderProgress, isRunning)
  return (
    <Table
      caption={titles.folders}
      quiet
      columns={[...messages.columns, ...(isRunning ? [messages.rate] : [])]}
    >
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
  rate: FolderRate | undefined
  isRunning: boolean
  isCurrent: boolean
}

function FolderRow({ path, progress, rate, isRunning, isCurrent }: FolderRowProps) {
  const {
    doneCount = 0,
    total = 0,
    bytes = 0,
    bytesTotal = null,
    destination = '',
  } = progress ?? {}
  const isDone = progress !== undefined && doneCount >= total
  return (
    <tr>
      <th scope="row">
        {path}
        {destination && destination !== path && <small>{messages.destination(destination)}</small>}
      </th>
      <td>{messages.of(numberText(doneCount), numberText(total))}</td>
      <td>
        <ProgressBar
          label={messages.progressOf(path)}
          done={isDone ? 1 : doneCount}
          total={isDone ? 1 : total}
          tone={isDone ? 'good' : undefined}
        />
      </td>
      <td>
        <Muted>
          {sizeText(bytes)}
          {bytesTotal !== null && bytesTotal > bytes && messages.size(bytesTotal)}
        </Muted>
      </td>
      {isRunning && (
        <td>
          <Muted>
            {isDone
              ? ''
              : rate
                ? messages.rateText(rate.perSecond, (total - doneCount) / rate.perSecond)
                : isCurrent && messages.running}
          </Muted>
        </td>
      )}
    </tr>
  )
}
