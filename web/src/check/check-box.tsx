import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { valuesOf } from '../ui/form.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { guessTarget } from './target.ts'

const NOTHING = 'Type a domain such as example.com, or an IPv4 address such as 192.0.2.1.'

/** One input for everything that can be checked; it goes to the result's own address. */
export function CheckBox({ initial = '', autoFocus = false }: { initial?: string; autoFocus?: boolean }) {
  const navigate = useNavigate()
  const [problem, setProblem] = useState('')

  function go(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const target = guessTarget(valuesOf(event.currentTarget).q ?? '')
    setProblem(target ? '' : NOTHING)
    if (target) void navigate({ to: '/check', search: { q: target.name } })
  }

  return (
    <form role="search" noValidate onSubmit={go}>
      <SearchField
        key={initial}
        name="q"
        label="Domain or IPv4 address"
        submit="Check"
        placeholder="example.com or 192.0.2.1"
        defaultValue={initial}
        autoFocus={autoFocus}
        error={problem}
      />
    </form>
  )
}
