import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Static, TSchema } from 'typebox'
import { api } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { Snippet } from '../ui/copy.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import { Notice } from '../ui/notice.tsx'
import { Card, Section, Stack } from '../ui/page.tsx'
import { Waiting } from '../ui/waiting.tsx'
import { curlOf } from './curl.ts'
import type { Verdict } from './verdict.ts'

type PanelProps<T extends TSchema> = {
  title: string
  /** Path and query of the check in the API. */
  path: string
  verdict: (data: Static<T>) => Verdict
  children: (data: Static<T>) => ReactNode
}

/** One check, asked on arrival: its verdict in a sentence, what to do, and what was found. */
export function CheckPanel<T extends TSchema>({ title, path, verdict, children }: PanelProps<T>) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['check', path],
    queryFn: ({ signal }) => api.check<T>(path, signal),
    staleTime: 30_000,
    retry: false,
    refetchOnWindowFocus: false,
  })
  const again = (
    <Button size="small" kind="quiet" busy={isFetching} onClick={() => void refetch()}>
      Check again
    </Button>
  )
  return (
    <Section title={title} aside={again}>
      <Card>
        {isFetching && !data && <Waiting lines={3}>Asking …</Waiting>}
        {error && !isFetching && <Notice tone="unknown">{error.message}</Notice>}
        {data !== undefined && !error && (
          <Stack>
            <VerdictLine {...verdict(data)} />
            {children(data)}
            <Raw data={data} path={path} />
          </Stack>
        )}
      </Card>
    </Section>
  )
}

function VerdictLine({ tone, sentence }: Verdict) {
  return (
    <div role="status">
      <Notice tone={tone}>
        <strong>{sentence}</strong>
      </Notice>
    </div>
  )
}

/** The same answer as programs get it. */
function Raw({ data, path }: { data: unknown; path: string }) {
  return (
    <Disclosure summary="For programs">
      <Snippet what="the command" text={curlOf(path)} />
      <Snippet what="the JSON" text={JSON.stringify(data, null, 2)} />
    </Disclosure>
  )
}
