import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Ago } from '../../../ui/text/ago.tsx'
import { Notice } from '../../../ui/feedback/notice.tsx'
import { Muted, Stack } from '../../../ui/layout/page.tsx'
import { Loading } from '../../../ui/feedback/loading.tsx'
import { requestQuery, type RequestDetails } from '../../api.ts'
import codeClasses from '../../body/code.module.css'
import classes from './compare.module.css'
import { diffLines, type LineChange } from './diff-lines.ts'
import { formatJson, linesToText } from '../../body/format-json.ts'
import { compare } from '../../messages.ts'

type CompareProps = { endpointId: string; opened: RequestDetails; previousId: string | undefined }

/** Differences from the previous request. */
export function Compare({ endpointId, opened, previousId }: CompareProps) {
  const { data: previous, error } = useQuery({
    ...requestQuery(endpointId, previousId ?? ''),
    enabled: previousId !== undefined,
  })
  if (previousId === undefined) return <Muted>{compare.noPrevious}</Muted>
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!previous) return <Loading lines={4}>{compare.loading}</Loading>
  return <Changes before={previous.request} after={opened.request} />
}

function Changes({
  before,
  after,
}: {
  before: RequestDetails['request']
  after: RequestDetails['request']
}) {
  const changes = useMemo(() => diffLines(linesOf(before), linesOf(after)), [before, after])
  if (!changes) return <Muted>{compare.tooLong}</Muted>
  if (changes.every(({ kind }) => kind === 'same')) return <Muted>{compare.same}</Muted>
  return (
    <Stack>
      <p>
        <Muted>
          {compare.previous} <Ago at={before.receivedAt} />. {compare.legend}
        </Muted>
      </p>
      <pre
        className={`${codeClasses.code} ${classes.changes}`}
        tabIndex={0}
        aria-label={compare.changes}
      >
        {changes.map((change, index) => (
          <ChangedLine key={index} {...change} />
        ))}
      </pre>
    </Stack>
  )
}

const MARKS: Record<LineChange['kind'], string> = { same: ' ', gone: '−', new: '+' }

function ChangedLine({ kind, line }: LineChange) {
  return (
    <div data-kind={kind}>
      {MARKS[kind]} {line}
    </div>
  )
}

function linesOf({
  method,
  path,
  query,
  headers,
  body,
  bodyEncoding,
  contentType,
}: RequestDetails['request']): string[] {
  const address = `${method} ${path || '/'}${query && `?${query}`}`
  const isJson =
    bodyEncoding === 'utf8' && (/[/+]json\b/i.test(contentType ?? '') || /^\s*[[{]/.test(body))
  const pretty = isJson ? formatJson(body) : { problem: '' }
  const text = 'lines' in pretty ? linesToText(pretty.lines) : body.split(/\r?\n/)
  return [address, ...headers.map(([name, value]) => `${name}: ${value}`), '', ...text]
}
