// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: verbs. User space may open contexts, query, and allocate protection
 * domains; the rest is EOPNOTSUPP. Kernel users (ib_mad, ib_ipoib) get queues
 * that work as far as they can with no wire: what is sent completes and is
 * lost, nothing ever arrives, and what waits is flushed in the error state.
 */
#include <linux/slab.h>
#include <linux/overflow.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "rdmasim.h"

/* From providers/rxe of rdma-core and rxe_user: not in an installed header. */
#define RDMASIM_RXE_ABI 2

struct rdmasim_ucontext {
	struct ib_ucontext ibuc;
};

struct rdmasim_pd {
	struct ib_pd ibpd;
};

struct rdmasim_ah {
	struct ib_ah ibah;
};

struct rdmasim_cq {
	struct ib_cq ibcq;
	spinlock_t lock;
	struct ib_wc *ring;
	u32 size;
	u32 head;
	u32 count;
	bool armed;
};

struct rdmasim_qp {
	struct ib_qp ibqp;
	spinlock_t lock;
	enum ib_qp_state state;
	enum ib_sig_type sig_type;
	struct ib_qp_cap cap;
	u64 *recv;
	u32 recv_head;
	u32 recv_count;
};

static struct rdmasim_cq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct rdmasim_cq, ibcq);
}

static struct rdmasim_qp *to_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct rdmasim_qp, ibqp);
}

static int rdmasim_query_device(struct ib_device *ibdev,
				struct ib_device_attr *attr,
				struct ib_udata *udata)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);
	u32 major = 0, minor = 0, sub = 0;

	if (udata->inlen || udata->outlen)
		return -EINVAL;

	spin_lock(&sdev->lock);
	/* what is not three numbers is left as zeros, sysfs has the text */
	if (sscanf(sdev->fw_ver, "%u.%u.%u", &major, &minor, &sub) == 3)
		attr->fw_ver = (u64)(u16)major << 32 | (u64)(u16)minor << 16 |
			       (u16)sub;
	attr->sys_image_guid = sdev->sys_image_guid;
	spin_unlock(&sdev->lock);

	attr->vendor_id = sdev->vendor_id;
	attr->vendor_part_id = sdev->part_id;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = 1024;
	attr->max_qp_wr = 1024;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	attr->max_send_sge = 4;
	attr->max_recv_sge = 4;
	attr->max_cq = 1024;
	attr->max_cqe = 65535;
	attr->max_mr = 1024;
	attr->max_pd = 1024;
	attr->max_ah = 1024;
	attr->max_mcast_grp = 64;
	attr->max_mcast_qp_attach = 64;
	attr->max_total_mcast_qp_attach = 4096;
	attr->max_pkeys = sdev->pkey_len;
	return 0;
}

static int rdmasim_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

static int rdmasim_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

static int rdmasim_create_ah(struct ib_ah *ibah,
			     struct rdma_ah_init_attr *init_attr,
			     struct ib_udata *udata)
{
	return udata ? -EOPNOTSUPP : 0;
}

static int rdmasim_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}

static int rdmasim_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return 0;
}

static struct ib_mr *rdmasim_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static struct ib_mr *rdmasim_reg_user_mr(struct ib_pd *ibpd, u64 start,
					 u64 length, u64 virt, int access,
					 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int rdmasim_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static int rdmasim_create_cq(struct ib_cq *ibcq,
			     const struct ib_cq_init_attr *attr,
			     rdmasim_cq_udata *udata)
{
	struct rdmasim_cq *cq = to_cq(ibcq);

	if (udata)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > 65535)
		return -EINVAL;
	cq->ring = kvcalloc(attr->cqe, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	ibcq->cqe = attr->cqe;
	return 0;
}

static int rdmasim_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	kvfree(to_cq(ibcq)->ring);
	return 0;
}

static int rdmasim_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct rdmasim_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->count) {
		wc[n++] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % cq->size;
		cq->count--;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int rdmasim_req_notify_cq(struct ib_cq *ibcq,
				 enum ib_cq_notify_flags notify)
{
	struct rdmasim_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->count;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/* Queues a completion; true if the handler has to be told, without locks. */
static bool rdmasim_complete(struct ib_qp *ibqp, struct ib_cq *ibcq, u64 wr_id,
			     enum ib_wc_opcode opcode, enum ib_wc_status status)
{
	struct rdmasim_cq *cq = to_cq(ibcq);
	unsigned long flags;
	struct ib_wc *wc;
	bool tell;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->count == cq->size) {
		spin_unlock_irqrestore(&cq->lock, flags);
		return false;
	}
	wc = &cq->ring[(cq->head + cq->count++) % cq->size];
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->status = status;
	wc->opcode = opcode;
	wc->qp = ibqp;
	tell = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	return tell;
}

static void rdmasim_tell(struct ib_cq *ibcq)
{
	if (ibcq->comp_handler)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static int rdmasim_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
			     struct ib_udata *udata)
{
	static atomic_t next_qpn = ATOMIC_INIT(1);
	struct rdmasim_qp *qp = to_qp(ibqp);

	if (udata)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq || attr->srq)
		return -EOPNOTSUPP;

	spin_lock_init(&qp->lock);
	qp->state = IB_QPS_RESET;
	qp->sig_type = attr->sq_sig_type;
	qp->cap = attr->cap;
	qp->recv = kvcalloc(attr->cap.max_recv_wr + 1, sizeof(*qp->recv),
			    GFP_KERNEL);
	if (!qp->recv)
		return -ENOMEM;
	if (attr->qp_type == IB_QPT_SMI)
		ibqp->qp_num = 0;
	else if (attr->qp_type == IB_QPT_GSI)
		ibqp->qp_num = 1;
	else
		ibqp->qp_num = (u32)atomic_inc_return(&next_qpn) & 0xffffff;
	return 0;
}

static int rdmasim_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	kvfree(to_qp(ibqp)->recv);
	return 0;
}

/* Also for a QP that is reset: then the receives are dropped in silence. */
static void rdmasim_flush(struct rdmasim_qp *qp, bool complete)
{
	struct ib_qp *ibqp = &qp->ibqp;
	unsigned long flags;
	bool tell = false;

	spin_lock_irqsave(&qp->lock, flags);
	while (qp->recv_count) {
		if (complete)
			tell |= rdmasim_complete(ibqp, ibqp->recv_cq,
						 qp->recv[qp->recv_head],
						 IB_WC_RECV, IB_WC_WR_FLUSH_ERR);
		qp->recv_head = (qp->recv_head + 1) % (qp->cap.max_recv_wr + 1);
		qp->recv_count--;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (tell)
		rdmasim_tell(ibqp->recv_cq);
}

static int rdmasim_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr,
			     int mask, struct ib_udata *udata)
{
	struct rdmasim_qp *qp = to_qp(ibqp);
	unsigned long flags;

	if (!(mask & IB_QP_STATE))
		return 0;
	spin_lock_irqsave(&qp->lock, flags);
	qp->state = attr->qp_state;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_RESET)
		rdmasim_flush(qp, attr->qp_state == IB_QPS_ERR);
	return 0;
}

/* `rdma resource show qp` asks, also about the QPs of ib_mad. */
static int rdmasim_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr,
			    int mask, struct ib_qp_init_attr *init_attr)
{
	struct rdmasim_qp *qp = to_qp(ibqp);

	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->cap = qp->cap;
	init_attr->cap = qp->cap;
	return 0;
}

static int rdmasim_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			     const struct ib_send_wr **bad_wr)
{
	struct rdmasim_qp *qp = to_qp(ibqp);
	enum ib_wc_status status;
	bool tell = false;

	status = READ_ONCE(qp->state) == IB_QPS_ERR ? IB_WC_WR_FLUSH_ERR :
						      IB_WC_SUCCESS;
	for (; wr; wr = wr->next)
		if (qp->sig_type == IB_SIGNAL_ALL_WR ||
		    wr->send_flags & IB_SEND_SIGNALED ||
		    status != IB_WC_SUCCESS)
			tell |= rdmasim_complete(ibqp, ibqp->send_cq, wr->wr_id,
						 IB_WC_SEND, status);
	if (tell)
		rdmasim_tell(ibqp->send_cq);
	return 0;
}

static int rdmasim_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			     const struct ib_recv_wr **bad_wr)
{
	struct rdmasim_qp *qp = to_qp(ibqp);
	u32 size = qp->cap.max_recv_wr + 1;
	unsigned long flags;
	bool flush;
	int err = 0;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr; wr = wr->next) {
		if (qp->recv_count == size) {
			*bad_wr = wr;
			err = -ENOMEM;
			break;
		}
		qp->recv[(qp->recv_head + qp->recv_count++) % size] = wr->wr_id;
	}
	flush = qp->state == IB_QPS_ERR;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (flush)
		rdmasim_flush(qp, true);
	return err;
}

const struct ib_device_ops rdmasim_verbs_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = RDMASIM_RXE_ABI,

	.alloc_pd = rdmasim_alloc_pd,
	.attach_mcast = rdmasim_mcast,
	.create_ah = rdmasim_create_ah,
	.create_cq = rdmasim_create_cq,
	.create_qp = rdmasim_create_qp,
	.dealloc_pd = rdmasim_dealloc_pd,
	.dereg_mr = rdmasim_dereg_mr,
	.destroy_ah = rdmasim_destroy_ah,
	.destroy_cq = rdmasim_destroy_cq,
	.destroy_qp = rdmasim_destroy_qp,
	.detach_mcast = rdmasim_mcast,
	.get_dma_mr = rdmasim_get_dma_mr,
	.modify_qp = rdmasim_modify_qp,
	.poll_cq = rdmasim_poll_cq,
	.post_recv = rdmasim_post_recv,
	.post_send = rdmasim_post_send,
	.query_device = rdmasim_query_device,
	.query_qp = rdmasim_query_qp,
	.reg_user_mr = rdmasim_reg_user_mr,
	.req_notify_cq = rdmasim_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, rdmasim_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, rdmasim_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, rdmasim_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, rdmasim_qp, ibqp),
};

static int rdmasim_alloc_ucontext(struct ib_ucontext *ibuc,
				  struct ib_udata *udata)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibuc->device);
	int err;

	err = rdmasim_fault(sdev, 0, RDMASIM_OPEN);
	if (!err)
		atomic_inc(&sdev->contexts);
	return err;
}

static void rdmasim_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	atomic_dec(&to_rdmasim(ibuc->device)->contexts);
}

/* Without these the device has no uverbs node. */
const struct ib_device_ops rdmasim_uverbs_ops = {
	.alloc_ucontext = rdmasim_alloc_ucontext,
	.dealloc_ucontext = rdmasim_dealloc_ucontext,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, rdmasim_ucontext, ibuc),
};

static void rdmasim_disassociate_ucontext(struct ib_ucontext *ibuc)
{
	/* no memory of the device is mapped, so there is none to take away */
}

const struct ib_device_ops rdmasim_disassociate_ops = {
	.disassociate_ucontext = rdmasim_disassociate_ucontext,
};
