import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { FieldRow, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { attacks, rangesQuery, type NewRange, type Range, type RangeList } from './api.ts'

type RangeSectionProps = { list: RangeList; title: string; words: string; empty: string }

/** Ranges of addresses that count differently: what they are, and one more. */
export function RangeSection({ list, title, words, empty }: RangeSectionProps) {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(rangesQuery(list, page))
  return (
    <Section title={title}>
      <p>
        <Muted>{words}</Muted>
      </p>
      <NewRangeForm list={list} />
      <LoadingOrError there={data} error={error} lines={2}>
        Fetching the ranges …
      </LoadingOrError>
      {data?.ranges.length === 0 && <Muted>{empty}</Muted>}
      {data && data.ranges.length > 0 && (
        <List>
          {data.ranges.map((range) => (
            <RangeItem key={range.id} list={list} range={range} />
          ))}
        </List>
      )}
      {data && <Pagination page={page} totalPages={data.pagination.totalPages} onGo={setPage} />}
    </Section>
  )
}

const KINDS: { value: NonNullable<NewRange['kind']>; label: string }[] = [
  { value: 'whitelist', label: 'Whitelist: never listed' },
  { value: 'canary', label: 'Canary: never listed, and who reports it loses reputation' },
  { value: 'shared', label: 'Shared: many people behind it, takes more to be listed' },
]

function NewRangeForm({ list }: { list: RangeList }) {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ cidr = '', label = '', kind }: Record<string, string>): Promise<void> {
    const range = { cidr: cidr.trim(), label: label.trim(), ...(kind && { kind: kind as NewRange['kind'] }) }
    await attacks.addRange(list, range)
    setAdded(added + 1)
    await queries.invalidateQueries({ queryKey: ['attacks'] })
  }

  return (
    <Form key={added} onSubmit={add} submit={list === 'sensors' ? 'Add the sensor' : 'Add the range'}>
      <FieldRow>
        <TextField
          name="cidr"
          label="Address or range"
          placeholder="192.0.2.0/24"
          spellCheck={false}
          autoComplete="off"
        />
        <TextField name="label" label="What it is" maxLength={200} autoComplete="off" />
      </FieldRow>
      {list === 'whitelist' && <SelectField name="kind" label="How it counts" choices={KINDS} />}
    </Form>
  )
}

const KIND_WORDS: Record<string, string> = {
  whitelist: 'Whitelist',
  canary: 'Canary',
  shared: 'Shared',
  sensor: 'Sensor',
}

function RangeItem({ list, range: { id, cidr, label, kind, createdAt } }: { list: RangeList; range: Range }) {
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await attacks.removeRange(list, id)
    await queries.invalidateQueries({ queryKey: ['attacks'] })
  }

  return (
    <ListItem
      title={<code>{cidr}</code>}
      action={
        <ConfirmButton label="Remove" about={cidr} title={`Remove ${cidr}?`} onConfirm={remove}>
          From now on it counts like any other address.
        </ConfirmButton>
      }
    >
      {[label, KIND_WORDS[kind]].filter(Boolean).join(' · ')} · since <DateText at={createdAt} />
    </ListItem>
  )
}
