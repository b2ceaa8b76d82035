import { useId } from 'react'
import type { Look } from './look.ts'
import { Hatches, hatchOf } from './hatches.tsx'
import classes from './looks.module.css'

const SIZE = 14

/** A look in a legend or tooltip: a small bar, or a piece of a line. */
export function Swatch({ look }: { look: Look }) {
  const id = useId()
  return (
    <svg className={classes.swatch} width={SIZE} height={SIZE} aria-hidden="true">
      {look !== 'rate' ? (
        <>
          <Hatches id={id} />
          <rect
            className={classes[look]}
            x={1}
            y={1}
            width={SIZE - 2}
            height={SIZE - 2}
            rx={2}
            fill={hatchOf(look, id)}
          />
        </>
      ) : (
        <line className={classes.rate} x2={SIZE} y1={SIZE / 2} y2={SIZE / 2} />
      )}
    </svg>
  )
}
