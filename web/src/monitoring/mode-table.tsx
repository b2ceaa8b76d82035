import { useState } from 'react'
import { Choice } from '../ui/forms/choice.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Row, Muted, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { counted } from '../ui/text/format.ts'
import type { MonitoredList, ListMode } from './api.ts'
import { MODE_NAMES } from './messages.ts'

type ModeTableProps = {
  caption: string
  lists: MonitoredList[]
  /** What is chosen here for a list; undefined where the rule above holds. */
  chosen: (list: MonitoredList) => ListMode | undefined
  /** The rule above: what holds where nothing is chosen. */
  otherwise: (list: MonitoredList) => string
  onChoose: (list: MonitoredList, mode: ListMode | undefined) => void
}

const CHOICES = Object.entries(MODE_NAMES).map(([value, name]) => ({ value: value as ListMode | 'default', name }))

/** What a listing on each blacklist means. */
export function ModeTable({ caption, lists, chosen, otherwise, onChoose }: ModeTableProps) {
  const [text, setText] = useState('')
  const found = lists.filter(({ name, dnsbl, category }) =>
    `${name} ${dnsbl} ${category}`.toLowerCase().includes(text.toLowerCase()),
  )
  return (
    <Stack>
      <Row>
        <FilterField label="Filter by name or category" value={text} onFilter={setText} />
        <Muted>{counted(found.length, 'blacklist')}</Muted>
      </Row>
      <Table caption={caption} quiet columns={['Blacklist', 'Category', 'A listing there']}>
        {found.map((list) => (
          <tr key={list.dnsbl}>
            <th scope="row">
              {list.name}
              <small>{list.dnsbl}</small>
            </th>
            <td>
              <Muted>{list.category}</Muted>
            </td>
            <td>
              <Choice
                label={`A listing on ${list.name}`}
                choices={[{ value: 'default', name: otherwise(list) }, ...CHOICES]}
                value={chosen(list) ?? 'default'}
                onChange={(value) => onChoose(list, value === 'default' ? undefined : value)}
              />
            </td>
          </tr>
        ))}
      </Table>
    </Stack>
  )
}
