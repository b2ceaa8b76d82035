import type { ReactNode } from 'react'

/** Pairs of name and value. */
export type Pairs = [name: string, value: ReactNode][]

/** A pair without a value is left out. */
export function PairList({ pairs, className }: { pairs: Pairs; className?: string }) {
  return (
    <dl className={className}>
      {pairs
        .filter(([, value]) => Boolean(value))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
