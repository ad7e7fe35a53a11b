/** SQL of the address that a delivery is about, if any, as in the index `deliveries_address`. */
export const addressSql = (delivery: string) =>
  `coalesce(${delivery}.payload->>'email', ${delivery}.payload->'contact'->>'email',
    ${delivery}.payload->'custom_event'->>'email')`;
