// Pinocchio's algorithms in a plain C++ loop over states, as a C++ user of the library would write it.
//
// methods/peers/pinocchio_cpp.py builds this file and calls it. States are rows of C-contiguous arrays, in Pinocchio's
// order of coordinates. Threads take equal parts of the rows, each with its own Data. Derivatives take the compiler
// longer than all the rest: they are a library of their own, made with -DDERIVATIVES.

#include <exception>
#include <string>
#include <thread>
#include <vector>

#ifdef DERIVATIVES
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#else
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#endif

namespace pin = pinocchio;
using Vector = Eigen::Map<const Eigen::VectorXd>;
using Result = Eigen::Map<Eigen::VectorXd>;
using Square = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Mat3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Robot
{
    pin::Model model;
    std::vector<pin::Data> data;  // one per thread

    pin::Data & workspace(int k)
    {
        while (static_cast<int>(data.size()) <= k) data.emplace_back(model);
        return data[k];
    }
};

// Call work(data, k) for every row k, in equal parts on the threads.
template<typename Work>
void each_row(Robot & robot, int threads, long rows, const Work & work)
{
    robot.workspace(threads - 1);  // all are there before threads use them
    const auto part = [&](int t) {
        pin::Data & data = robot.data[t];
        for (long k = rows * t / threads; k < rows * (t + 1) / threads; k++) work(data, k);
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; t++) others.emplace_back(part, t);
    part(0);
    for (auto & other : others) other.join();
}

// Call work(model, data, q_k, v_k, a_k, k) for the states of all rows k; a may also be a force.
template<typename Work>
void each_state(void * handle, int threads, long rows, const double * q, const double * v, const double * a,
                const Work & work)
{
    Robot & robot = *static_cast<Robot *>(handle);
    const int nq = robot.model.nq, nv = robot.model.nv;
    each_row(robot, threads, rows, [&](pin::Data & data, long k) {
        work(robot.model, data, Vector(q + k * nq, nq), Vector(v + k * nv, nv), Vector(a + k * nv, nv), k);
    });
}

// Two nv x nv matrices one after the other, by rows: derivatives by q, then by v.
template<typename Matrix>
void store(double * out, long nv, const Matrix & by_q, const Matrix & by_v)
{
    Square(out, nv, nv) = by_q;
    Square(out + nv * nv, nv, nv) = by_v;
}

// Joint kinds of dynbench/robots/joints.py, with the joint type that Pinocchio's URDF parser chooses for an axis.
static pin::JointModel joint(int kind, const Eigen::Vector3d & axis)
{
    // exactly: an axis (1e-8, 0, 1) also has a component of 1
    const bool x = axis == Eigen::Vector3d::UnitX(), y = axis == Eigen::Vector3d::UnitY();
    const bool z = axis == Eigen::Vector3d::UnitZ();
    if (kind == 2) return pin::JointModelSpherical();
    if (kind == 3) return pin::JointModelFreeFlyer();
    if (kind == 0) {
        if (x) return pin::JointModelRX();
        if (y) return pin::JointModelRY();
        if (z) return pin::JointModelRZ();
        return pin::JointModelRevoluteUnaligned(axis);
    }
    if (x) return pin::JointModelPX();
    if (y) return pin::JointModelPY();
    if (z) return pin::JointModelPZ();
    return pin::JointModelPrismaticUnaligned(axis);
}

extern "C" {

// A model of n bodies, numbered depth first; parent -1 is the ground. Matrices are stored by rows.
void * robot_new(int n, const int * parent, const int * kind, const double * axis, const double * rotation,
                 const double * translation, const double * mass, const double * com, const double * inertia,
                 const double * gravity, const double * armature)
{
    try {
        Robot * robot = new Robot;
        pin::Model & model = robot->model;
        model.gravity.linear() = Eigen::Vector3d(gravity);
        for (int i = 0; i < n; i++) {
            const Mat3 R(rotation + 9 * i), J(inertia + 9 * i);
            const Eigen::Vector3d p(translation + 3 * i), c(com + 3 * i);
            const auto at = model.addJoint(parent[i] + 1, joint(kind[i], Eigen::Vector3d(axis + 3 * i)),
                                           pin::SE3(Eigen::Matrix3d(R), p), "joint" + std::to_string(i));
            model.appendBodyToJoint(at, pin::Inertia(mass[i], c, Eigen::Matrix3d(J)), pin::SE3::Identity());
        }
        model.armature = Vector(armature, model.nv);
        return robot;
    } catch (const std::exception &) {
        return nullptr;
    }
}

void robot_delete(void * robot) { delete static_cast<Robot *>(robot); }

#ifndef DERIVATIVES

void inverse_dynamics(void * handle, int threads, long rows, const double * q, const double * v, const double * a,
                      double * out)
{
    each_state(handle, threads, rows, q, v, a, [&](const auto & model, auto & data, auto q, auto v, auto a, long k) {
        Result(out + k * model.nv, model.nv) = pin::rnea(model, data, q, v, a);
    });
}

void bias(void * handle, int threads, long rows, const double * q, const double * v, double * out)
{
    each_state(handle, threads, rows, q, v, v, [&](const auto & model, auto & data, auto q, auto v, auto, long k) {
        Result(out + k * model.nv, model.nv) = pin::nonLinearEffects(model, data, q, v);
    });
}

void forward_dynamics(void * handle, int threads, long rows, const double * q, const double * v, const double * tau,
                      double * out)
{
    each_state(handle, threads, rows, q, v, tau, [&](const auto & model, auto & data, auto q, auto v, auto tau, long k) {
        Result(out + k * model.nv, model.nv) = pin::aba(model, data, q, v, tau);
    });
}

// crba fills the upper triangle; the other one is copied from it, as the Python binding does.
void mass_matrix(void * handle, int threads, long rows, const double * q, double * out)
{
    Robot & robot = *static_cast<Robot *>(handle);
    const int nq = robot.model.nq, nv = robot.model.nv;
    each_row(robot, threads, rows, [&](pin::Data & data, long k) {
        pin::crba(robot.model, data, Vector(q + k * nq, nq));
        Square M(out + k * nv * nv, nv, nv);
        M = data.M.selfadjointView<Eigen::Upper>();
    });
}

#else

// Wrenches on the bodies (n, 6), force before moment in body axes, as Pinocchio's forces on joints; the first is the ground.
static std::vector<pin::Force> forces(const Robot & robot, const double * wrench)
{
    std::vector<pin::Force> found(robot.model.njoints, pin::Force::Zero());
    for (int i = 1; i < robot.model.njoints; i++, wrench += 6)
        found[i] = pin::Force(Eigen::Vector3d(wrench), Eigen::Vector3d(wrench + 3));
    return found;
}

// Rows of out: d tau / d q, then d tau / d v, each nv x nv.
void inverse_dynamics_derivatives(void * handle, int threads, long rows, const double * q, const double * v,
                                  const double * a, double * out)
{
    each_state(handle, threads, rows, q, v, a, [&](const auto & model, auto & data, auto q, auto v, auto a, long k) {
        pin::computeRNEADerivatives(model, data, q, v, a);
        store(out + 2 * k * model.nv * model.nv, model.nv, data.dtau_dq, data.dtau_dv);
    });
}

// Rows of out: d a / d q, then d a / d v, each nv x nv.
void forward_dynamics_derivatives(void * handle, int threads, long rows, const double * q, const double * v,
                                  const double * tau, double * out)
{
    each_state(handle, threads, rows, q, v, tau, [&](const auto & model, auto & data, auto q, auto v, auto tau, long k) {
        pin::computeABADerivatives(model, data, q, v, tau);
        store(out + 2 * k * model.nv * model.nv, model.nv, data.ddq_dq, data.ddq_dv);
    });
}

// The same for one state with external wrenches on the bodies, (n, 6).
void inverse_dynamics_derivatives_pushed(void * handle, const double * q, const double * v, const double * a,
                                         const double * wrench, double * out)
{
    const auto f = forces(*static_cast<Robot *>(handle), wrench);
    each_state(handle, 1, 1, q, v, a, [&](const auto & model, auto & data, auto q, auto v, auto a, long) {
        pin::computeRNEADerivatives(model, data, q, v, a, f);
        store(out, model.nv, data.dtau_dq, data.dtau_dv);
    });
}

void forward_dynamics_derivatives_pushed(void * handle, const double * q, const double * v, const double * tau,
                                         const double * wrench, double * out)
{
    const auto f = forces(*static_cast<Robot *>(handle), wrench);
    each_state(handle, 1, 1, q, v, tau, [&](const auto & model, auto & data, auto q, auto v, auto tau, long) {
        pin::computeABADerivatives(model, data, q, v, tau, f);
        store(out, model.nv, data.ddq_dq, data.ddq_dv);
    });
}

#endif

}  // extern "C"
